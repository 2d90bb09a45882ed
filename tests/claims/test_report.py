"""RESULTS.md: what the records say, and nothing else."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.bench.table import Bench, Row
from heedful.claims.base import Context, Measured, Number, claims
from heedful.claims.report import described, report
from heedful.claims.runner import record, write_record
from heedful.errors import HeedfulError

from .conftest import UNREACHED, claim

ROOT = Path(__file__).parent.parent.parent


def test_the_committed_page_is_what_the_committed_records_give() -> None:
    page = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    assert page == report(ROOT / "results"), "run: heedful reproduce --write-results"


def test_without_records_it_says_so_and_lists_what_waits(tmp_path: Path) -> None:
    page = report(tmp_path)
    assert "No claim has been measured yet." in page
    assert all(f"- `{name}`: " in page for name in claims.names())


def test_records_are_shown_reached_or_not_with_the_reason(
    registered, context: Context, tmp_path: Path
) -> None:
    measured = Measured(
        numbers={
            "ours/exact_match": Number({1: 50.0, 2: 60.0}),
            "theirs/exact_match": Number({1: 40.0}),
            "odd/exact_match": Number({1: float("inf")}),
        },
        seeds=(1, 2),
        notes=("by hand",),
        commits=("abc",),
        hardware=("a machine",),
    )
    for made in (claim(statement="It | can."), UNREACHED):
        write_record(tmp_path / f"{made.name}.json", record(made, measured, context, 90.0))
    page = report(tmp_path)
    ours = "ours/exact_match 55 (50 to 60)"
    assert f"| quick | 12.5 % | a narrower one: 40 | {ours} | reached |" in page
    assert f"| quick_unreached | 12.5 % | a narrower one: 40 | {ours} | not reached |" in page
    assert "## quick_unreached: not reached" in page
    assert "- not reached: ours/exact_match ≥ 101: it is 55; " in page
    assert "- note: by hand" in page and "| odd/exact_match | not a number |" in page
    assert "at commit abc, seeds 1, 2, in 90 seconds on a machine; heedful " in page
    assert "- `quick`" not in page and "- `transformer_reverse`: " in page


def test_speeds_are_shown_with_what_gave_them_and_what_failed(tmp_path: Path) -> None:
    row = Row(name="heedful fp32", unit="tokens/s", value=12_345.6, spread=0.25)
    failed = Row(name="another", unit="tokens/s", note="failed: out of memory")
    made = Bench(
        kind="train", rows=(row, failed), settings={"batch": 2_048, "mean": {"inputs": 9.5}},
        notes=("by hand",),
    )  # fmt: skip
    record = made.to_json("a machine", {"heedful": "0.1.0"}, "abc")
    (tmp_path / "bench-train-cpu.json").write_text(json.dumps(record))
    page = report(tmp_path)
    assert "## bench-train-cpu\n" in page
    assert "- `heedful bench train` at commit abc on a machine; heedful 0.1.0\n" in page
    assert "- with batch 2,048, mean.inputs 9.5\n- note: by hand\n" in page
    assert "| heedful fp32 | 12,346 | 0.25 | tokens/s |\n" in page
    assert "| another | failed: out of memory |  | tokens/s |\n" in page

    (tmp_path / "bench-train-cpu.json").write_text('{"rows": []}')
    with pytest.raises(HeedfulError, match=r"bench-train-cpu.json is no record of a benchmark"):
        report(tmp_path)


def test_a_smoke_record_is_not_looked_at(registered, context: Context, tmp_path: Path) -> None:
    smoke = replace(context, budget="smoke")
    measured = Measured(numbers={"ours/exact_match": Number({1: 1.0})})
    write_record(tmp_path / "smoke" / "quick.json", record(claim(), measured, smoke, 1.0))
    assert "No claim has been measured yet." in report(tmp_path)


def test_a_claim_can_be_described_before_it_is_measured() -> None:
    shown = described(UNREACHED)
    assert shown["paper"]["venue"] == "A Venue 2020" and shown["cost"] == "a second"
    assert shown["target"] == ["ours/exact_match ≥ 101", "ours/exact_match > peer/exact_match"]
    assert shown["baseline"] == ["a narrower one"]

"""Reproducing: a record with all its keys, whole, reached or not, and never over a real one."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.claims import circumstances
from heedful.claims.base import Context, Measured, Number, claims
from heedful.claims.runner import (
    read_records,
    record,
    reproduce,
    reproduce_part,
    write_record,
)
from heedful.errors import HeedfulError, UsageError

from .conftest import UNREACHED, claim

KEYS = {
    *("claim", "system", "paper", "statement", "task", "target", "baseline", "measured"),
    *("reached", "command", "commit", "seeds", "hardware", "seconds", "curve"),
}
MATCH = "exact_match"
MORE = {"versions", "budget", "reason", "notes"}


def test_a_claim_is_measured_and_written_down(registered, context: Context, tmp_path: Path) -> None:
    made, path = reproduce("quick", context, tmp_path / "results")
    assert path == tmp_path / "results" / "quick.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    assert set(written) == KEYS | MORE
    assert written["reached"] is True and written["reason"] == ""
    assert written["seeds"] == [1, 2] and written["budget"] == "full"
    assert written["command"] == "heedful reproduce quick"
    assert written["paper"]["url"] == "https://example.org/paper"
    assert set(written["measured"]["ours/exact_match"]["by_seed"]) == {"1", "2"}
    assert written["baseline"][0]["value"] == written["measured"]["theirs/exact_match"]["value"]
    assert written["curve"]["ours-seed1"][-1]["step"] == 4
    assert written["seconds"] > 0 and "cores" in written["hardware"]
    assert written["versions"]["torch"]
    assert (context.runs / "quick" / "ours-seed2" / "config.json").exists()
    assert read_records(tmp_path / "results") == {"quick": written}
    assert made["measured"].keys() == written["measured"].keys()


def test_what_is_not_reached_is_recorded_as_not_reached(
    registered, context: Context, tmp_path: Path
) -> None:
    made, path = reproduce("quick_unreached", context, tmp_path)
    assert made["reached"] is False
    assert "ours/exact_match ≥ 101: it is" in made["reason"]
    assert "peer/exact_match was not measured" in made["reason"]
    assert json.loads(path.read_text())["reached"] is False


def test_smoke_says_nothing_of_reaching_and_leaves_real_records_alone(
    registered, context: Context, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "quick.json").write_text("real")
    made, path = reproduce("quick", replace(context, budget="smoke"), results)
    assert path == results / "smoke" / "quick.json" and path.exists()
    assert made["reached"] is None and made["budget"] == "smoke" and made["seeds"] == [1]
    assert "not measured" in made["reason"] and "--budget smoke" in made["command"]
    assert (results / "quick.json").read_text() == "real"
    assert not context.runs.exists()


def test_a_claim_may_bring_its_own_measurement(context: Context) -> None:
    asked = []

    def measure(context: Context) -> Measured:
        asked.append(context.budget)
        return Measured(numbers={"ours/exact_match": Number({0: 5.0})}, notes=("reckoned",))

    made = claim(measure=measure)
    written = record(made, made.measure(context), replace(context, seeds=(4,)), 2.0)
    assert asked == ["full"] and written["notes"] == ["reckoned"] and written["seconds"] == 2.0
    assert written["commit"] and written["hardware"] and written["curve"] == {}
    assert written["command"] == "heedful reproduce quick --seeds 4"
    assert written["baseline"][0]["value"] is None


def test_a_record_holds_no_number_that_json_has_not(context: Context, tmp_path: Path) -> None:
    measured = Measured(numbers={"ours/exact_match": Number({1: float("nan")})})
    write_record(tmp_path / "a.json", record(UNREACHED, measured, context, 1.23456789))
    written = json.loads((tmp_path / "a.json").read_text())
    assert written["measured"]["ours/exact_match"]["value"] is None
    assert written["reached"] is False and os.listdir(tmp_path) == ["a.json"]


def test_a_record_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HeedfulError, match="could not write .*quick.json"):
        write_record(tmp_path / "file" / "quick.json", {"claim": "quick"})


def test_a_torn_record_is_named_and_a_benchmark_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "bench-train.json").write_text('{"rows": []}')
    assert read_records(tmp_path) == {} and read_records(tmp_path / "nowhere") == {}
    (tmp_path / "quick.json").write_text("{")
    with pytest.raises(HeedfulError, match=r"quick\.json is not a record"):
        read_records(tmp_path)


def test_an_unknown_claim_names_the_nearest(registered, context: Context, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no claim named 'quic'.*Close: quick"):
        reproduce("quic", context, tmp_path)


def test_some_arms_are_measured_without_a_record_and_used_by_the_whole(
    registered, context: Context, tmp_path: Path
) -> None:
    part = reproduce_part("quick", replace(context, only=("theirs",), seeds=(2,)))
    assert set(part.numbers) == {f"theirs/{n}" for n in ("seconds", "tokens_per_second", MATCH)}
    assert part.seeds == (2,) and list(context.runs.glob("quick/*.json")) == [
        context.runs / "quick" / "theirs-seed2.json"
    ]
    made, _ = reproduce("quick", context, tmp_path / "results")
    seconds = made["measured"]["theirs/seconds"]["by_seed"]
    assert seconds["2"] == part.numbers["theirs/seconds"].by_seed[2]
    smoke = replace(context, only=("ours",), budget="smoke", runs=tmp_path / "none")
    assert "ours/exact_match" in reproduce_part("quick", smoke).numbers
    assert not smoke.runs.exists()


def test_an_arm_that_is_not_there_is_said(registered, context: Context) -> None:
    said = "claim 'quick' has no arm named 'our'. Close: ours. It has: ours, theirs"
    with pytest.raises(UsageError, match=said):
        reproduce_part("quick", replace(context, only=("our",)))
    assert not context.runs.exists()


def test_what_is_measured_as_a_whole_has_no_arms(registered, context: Context, monkeypatch) -> None:
    whole = claim(measure=lambda context: Measured(numbers={}))
    monkeypatch.setitem(claims._makers, "quick", lambda: whole)
    with pytest.raises(UsageError, match="measured as a whole.*Leave --only out"):
        reproduce_part("quick", replace(context, only=("ours",)))


class TestCommit:
    def test_it_is_unknown_outside_a_checkout(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(circumstances, "_git", lambda *_: None)
        monkeypatch.delenv("HEEDFUL_COMMIT", raising=False)
        assert circumstances.commit() == "unknown"
        monkeypatch.setenv("HEEDFUL_COMMIT", "abc")
        assert circumstances.commit() == "abc"

    @pytest.mark.parametrize(("status", "said"), [("", ""), (" M x.py", "+changes")])
    def test_changes_are_said(self, monkeypatch, status: str, said: str) -> None:
        answers = {"ls-files": "__init__.py", "rev-parse": "a" * 40, "status": status}
        monkeypatch.setattr(circumstances, "_git", lambda folder, verb, *_: answers[verb])
        assert circumstances.commit() == "a" * 12 + said

    def test_a_checkout_without_commits_is_unknown(self, monkeypatch) -> None:
        answers = {"ls-files": "__init__.py", "rev-parse": None}
        monkeypatch.setattr(circumstances, "_git", lambda folder, verb, *_: answers[verb])
        assert circumstances.commit() == "unknown"

    def test_git_itself_may_be_missing(self, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))  # look no higher
        assert circumstances._git(tmp_path, "rev-parse", "HEAD") is None
        monkeypatch.setenv("PATH", str(tmp_path))
        assert circumstances._git(tmp_path, "status") is None


def test_processors_of_one_name_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    said = "model name\t: AMD EPYC\ncpu family\t: 26\nmodel\t: 2\n\nmodel name\t: another\n"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: said)
    assert circumstances.hardware(torch.device("cpu")).startswith("AMD EPYC (family 26, model 2), ")


def test_the_hardware_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA H200")
    assert circumstances.hardware(torch.device("cuda", 0)).startswith("1 × NVIDIA H200; ")
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: (_ for _ in ()).throw(OSError()))
    assert " cores, " in circumstances.hardware(torch.device("cpu"))

"""`heedful bench`: what each command prints, records and refuses."""

import json
import sys
from pathlib import Path

import pytest
import torch

from heedful.bench import decode
from heedful.bench.decode import Measuring
from heedful.bench.table import Bench
from heedful.cli import bench
from heedful.distributed import processes

from .conftest import Heedful

QUICK = ["--device", "cpu", "--repeats", "1"]
SMALL = {
    "model.dim": 16,
    "model.ff": 32,
    "model.heads": 2,
    "model.layers": 1,
    "problem.train_examples": 80,
    "problem.mean": 12,
    "batch.tokens": 256,
    "batch.row": 64,
    "batch.longest": 64,
    "problem.longest": 64,
}
TRAIN = [
    *("train", "--preset", "transformer_tiny", "--vocabulary", "40", "--batches", "2"),
    *("--warmup", "1", *QUICK),
    *(part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")),
]
LAYERS = ["complexity", "--n", "16,32", "--d", "64,128", "--k", "3,5", "--r", "4,8", *QUICK]
ATTENTION = ["attention", "--length", "16", "--heads", "1", "--lengths", "16,32", *QUICK]
KINDS = ("train", "decode", "attention", "complexity")


def check(said: dict, kind: str) -> None:
    """What scripts may rely on."""
    assert said["bench"] == kind and said["hardware"] and said["commit"]
    assert {"heedful", "torch", "python"} <= set(said["versions"])
    assert said["rows"] and any(row["name"].startswith("heedful") for row in said["rows"])
    for row in said["rows"]:
        assert {"name", "value", "unit", "spread"} <= set(row)
        assert row["value"] is None or isinstance(row["value"], float)
        assert (row["value"] is None) <= bool(row.get("note"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_help_with_an_example(heedful: Heedful, kind: str) -> None:
    answer = heedful("bench", kind, "--help")
    assert answer.status == 0 and f"heedful bench {kind}" in answer.out.partition("Example:")[2]


def test_the_help_names_all_kinds(heedful: Heedful) -> None:
    answer = heedful("bench", "--help")
    listed = answer.out.partition("Commands:")[2].split()
    assert answer.status == 0 and set(KINDS) <= set(listed)
    assert "heedful bench train" in answer.out.partition("Example:")[2]


def test_training_is_printed_and_recorded(heedful: Heedful, tmp_path: Path) -> None:
    file = tmp_path / "results" / "bench-train.json"
    answer = heedful("bench", *TRAIN, "--peers", "torch", "--out", file)
    assert answer.status == 0, answer.err
    rows = [line.split("  ")[0] for line in answer.lines]
    assert "heedful fp32 plain" in rows and "torch.nn.Transformer fp32 eager" in rows
    assert f"recorded in {file}" in answer.err
    said = json.loads(file.read_text())
    check(said, "train")
    assert said["settings"]["vocabulary"] == 40
    assert said["settings"]["batch"] == "packed, 256 slots, rows of 64"


def test_as_json_nothing_else_is_printed(heedful: Heedful) -> None:
    answer = heedful("bench", *TRAIN, "--peers", "none", "--json", "--end-to-end", "4")
    assert answer.status == 0, answer.err
    said = answer.json()
    check(said, "train")
    names = [row["name"] for row in said["rows"]]
    expected = ["heedful fp32 plain", "heedful train end to end, fp32 plain"]
    assert names == ["matmul 2048³ float32", *expected]


def test_a_run_is_decoded(heedful: Heedful, tiny_run: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setitem(sys.modules, "transformers", None)
    answer = heedful(
        *("bench", "decode", tiny_run, "--beam", "2", "--sentences", "6", "--batch", "4"),
        *("--json", "--warmup", "0", *QUICK),
    )
    assert answer.status == 0, answer.err
    said = answer.json()
    check(said, "decode")
    notes = {row["name"]: row.get("note") for row in said["rows"]}
    missing = "not installed, pip install 'heedful[bench]'"
    assert notes == {
        "heedful float32, beam 2": None,
        "Hugging Face generate": missing,
        "CTranslate2": missing,
    }
    assert (said["settings"]["sentences"], said["settings"]["run"]) == (6, tiny_run.name)
    assert "transformers" not in said["versions"]
    assert f"CTranslate2: {missing}\n" in answer.err


@pytest.mark.parametrize(("place", "rounds"), [("cpu", 1), ("cuda", 4)])
def test_what_is_recorded_on_a_gpu_is_recorded_before_it_is_measured(
    heedful: Heedful, tiny_run: Path, monkeypatch, place: str, rounds: int
) -> None:
    asked: list[Measuring] = []

    def measure(measuring: Measuring, *_) -> Bench:
        asked.append(measuring)
        return Bench(kind="decode", rows=(), settings={}, notes=())

    monkeypatch.setattr(processes, "pick_device", lambda name: torch.device(place))
    monkeypatch.setattr(decode, "bench_decode", measure)
    monkeypatch.setattr(bench, "told", lambda *_: None)
    assert heedful("bench", "decode", tiny_run).status == 0
    assert [measuring.warmup for measuring in asked] == [rounds]


def test_without_a_run_a_stand_in_is_decoded(heedful: Heedful) -> None:
    small = {**SMALL, "batch.row": 256, "batch.longest": 256, "problem.train_length": 6}
    del small["problem.mean"], small["problem.longest"]
    answer = heedful(
        *("bench", "decode", "--preset", "transformer_tiny", "--steps", "1", "--beam", "1"),
        *("--problem", "algorithmic_reverse_binary40", "--peers", "none", "--sentences", "3"),
        *(part for name, value in small.items() for part in ("--set", f"{name}={value}")),
        *("--set", "problem.eval_length=9", "--set", "problem.test_examples=3", *QUICK),
    )
    assert answer.status == 0, answer.err
    assert "training transformer_tiny on algorithmic_reverse_binary40" in answer.err
    assert any(line.startswith("heedful float32, beam 1") for line in answer.lines)


def test_attention_is_measured(heedful: Heedful) -> None:
    answer = heedful("bench", *ATTENTION, "--json")
    assert answer.status == 0, answer.err
    check(answer.json(), "attention")
    assert answer.json()["settings"]["lengths"] == [16, 32]
    only = heedful("bench", *ATTENTION, "--lengths", "none", "--peers", "none", "--json").json()
    assert all("1 × 16" in row["name"] for row in only["rows"])


def test_costs_are_measured_and_drawn(heedful: Heedful, tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    answer = heedful("bench", *LAYERS, "--json", "--plot", picture)
    assert answer.status == 0, answer.err
    check(answer.json(), "complexity")
    assert answer.json()["settings"]["n_otherwise"] == 32
    assert "<svg" in picture.read_text() and f"the picture is {picture}" in answer.err


def test_a_picture_that_cannot_be_drawn_loses_no_number(heedful: Heedful, tmp_path: Path) -> None:
    answer = heedful("bench", *LAYERS, "--json", "--plot", tmp_path / "x.nothing")
    assert answer.status == 1 and "cannot write" in answer.err
    check(answer.json(), "complexity")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "no command 'trian'. Close: train."),
        ([], "missing command"),
        (["train", "--peers", "marain"], "no peer named 'marain' here. Close: marian"),
        (["train", "--mode", "captue"], "no mode named 'captue'. Close: captured"),
        (["train", "--preset", "transformer_bas"], "no preset named 'transformer_bas'"),
        (["decode", "--beam", "four"], "--beam takes numbers of 1 or more, as in 4,1, got 'four'"),
        (["decode", "runs/x", "--preset", "y"], "runs/x has its own preset and problem"),
        (["attention", "--lengths", "0"], "--lengths takes numbers of 1 or more"),
        (["train", "--device", "cuda:99"], "cuda"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_in_one_line(heedful: Heedful, arguments: list[str], said: str) -> None:
    answer = heedful("bench", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err and answer.err.startswith("error: ") and answer.err.count("\n") == 1

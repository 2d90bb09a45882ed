"""`demo`: the whole way, on a cut of its data and of its model."""

import json
import re
import shlex
from pathlib import Path

import pytest

from heedful.cli.demo import NEXT, SENTENCES, SPLITS
from heedful.cli.main import application

SMALL = {
    "problem.train_examples": 400,
    "problem.valid_examples": 5,
    "problem.test_examples": 5,
    "problem.unseen_examples": 5,
    "problem.coreference_examples": 5,
    "problem.text.size": 300,
    "model.dim": 16,
    "model.ff": 32,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "training.checkpoint_every": 2,
    "decode.beam": 2,
    "decode.extra_length": 2,
}
SETTINGS = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]


def test_the_demo_trains_scores_translates_and_is_used_again(heedful, tmp_path: Path) -> None:
    run = tmp_path / "demo"
    answer = heedful("demo", "--out", run, "--steps", "4", *SETTINGS)
    assert answer.status == 0, answer.err
    for split in SPLITS:
        assert re.search(rf"^{split} +[\d.]+ +[\d.]+ +[\d.]+$", answer.out, re.MULTILINE)
    assert "BLEU: nrefs:1|" in answer.out and "checkpoint average, sha256 " in answer.out
    assert all(sentence in answer.out for sentence in SENTENCES)
    assert all(command.format(run=run) in answer.out for command in NEXT)
    page = run / "attention.html"
    assert f"to be opened in a browser: {page}" in answer.out
    held = re.search(r'id="heedful-data">(.*?)</script>', page.read_text(), re.DOTALL)
    data = json.loads(held[1])
    assert [item["look"]["text"] for item in data["items"]] == list(SENTENCES)
    assert all(item["tree"]["nodes"] for item in data["items"])
    changed = [[side["words"][pair["changed"]] for side in pair["sides"]] for pair in data["pairs"]]
    assert changed == [["delicious", "hungry"], ["tired", "wide"]]

    again = heedful("demo", "--out", run, "--steps", "4", *SETTINGS)
    assert again.status == 0 and "holds a finished demo run, which is used" in again.err
    without_times = [re.sub(r"\d+ seconds", "", said.out) for said in (answer, again)]
    assert without_times[0] == without_times[1]

    further = heedful("demo", "--out", run, "--steps", "6", *SETTINGS)
    assert further.status == 0 and "going on from step-4" in further.err

    other = heedful("demo", "--out", run, "--steps", "4", *SETTINGS, "--set", "model.layers=2")
    assert other.status == 2 and "holds another run: model.layers: 1 → 2" in other.err

    fresh = heedful("demo", "--out", run, "--steps", "2", *SETTINGS, "--fresh")
    assert fresh.status == 0 and not (run / "checkpoints" / "step-4").exists()


def test_fresh_throws_only_demo_runs_away(heedful, tiny_run: Path, tmp_path: Path) -> None:
    answer = heedful("demo", "--out", tiny_run, "--fresh", "--steps", "1")
    assert answer.status == 2 and "throws only demo runs away" in answer.err
    assert (tiny_run / "config.json").exists()
    (tmp_path / "letters").mkdir()
    answer = heedful("demo", "--out", tmp_path / "letters", "--fresh", "--steps", "1")
    assert (
        answer.status == 1
        and "is not a run folder" in answer.err
        and (tmp_path / "letters").exists()
    )


@pytest.mark.parametrize("command", NEXT)
def test_what_to_try_next_is_understood(command: str) -> None:
    _, *arguments = shlex.split(command.format(run="runs/demo"))
    parser = application()
    with parser.make_context("heedful", arguments) as context:
        name, verb, rest = parser.resolve_command(context, arguments)
        verb.make_context(name, rest, parent=context)


def test_the_demo_writes_to_runs_demo(heedful) -> None:
    assert "runs/demo" in heedful("demo", "--help").out

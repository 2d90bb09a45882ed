"""That a tag decides: the same letters, copied for one language and turned round for the other."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import heedful
from heedful.config import vary
from heedful.problems.multilingual_files import MultilingualFiles
from heedful.registry import presets
from heedful.runs.checkpoints import MODEL, OPTIM, Checkpoints
from heedful.runs.config import RunConfig
from heedful.text.chars import Characters
from heedful.training.evaluation import evaluate
from heedful.training.trainer import train
from heedful.training.watchers import Watchers

PRESET = "transformer_algorithmic_tiny"
SMALL = {
    "model.dim": 32,
    "model.ff": 64,
    "model.layers": 1,
    "batch": "bucketed",
    "batch.tokens": 400,
    "batch.temperature": 5.0,
    "training.steps": 250,
    "training.checkpoint_every": 0,
}
WORDS = ["".join(letters) for letters in product("abcdefg", repeat=3)]


@pytest.fixture
def problem(tmp_path: Path) -> MultilingualFiles:
    """Copying is seen twice as often as turning round, were it not for the temperature."""
    for name, lines in {
        "a.in": WORDS,
        "a.same": WORDS,
        "b.in": WORDS[::2],
        "b.back": [word[::-1] for word in WORDS[::2]],
    }.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return MultilingualFiles(
        source=(str(tmp_path / "a.in"), str(tmp_path / "b.in")),
        target=(str(tmp_path / "a.same"), str(tmp_path / "b.back")),
        to=("same", "back"),
        text=Characters(),
        held_out=0.1,
    )


def trained(problem: MultilingualFiles, run: Path, resume: bool = False, **changes: Any) -> None:
    settings = {name.replace("__", "."): value for name, value in changes.items()}
    config = RunConfig(
        problem_name="multilingual_files",
        problem=problem,
        preset_name=PRESET,
        preset=vary(presets.get(PRESET)(), {**SMALL, **settings}),
    )
    data = run.parent / "data"
    train(config, run, data, resume=resume, device="cpu", watch=lambda *_: Watchers())


def test_the_tag_decides_what_is_written(problem: MultilingualFiles, tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained(problem, run)
    for split in ("test", "test_same", "test_back"):
        report = evaluate(run, tmp_path / "data", split=split, device="cpu")
        assert report["metrics"]["exact_match"]["value"] > 90, split
    model = heedful.load(run, device="cpu")
    assert model.translate(["abc", "eeg"], to="same") == ["abc", "eeg"]
    assert model.translate(["abc", "eeg"], to="back") == ["cba", "gee"]


def test_an_interrupted_run_ends_as_if_it_had_not_been(
    problem: MultilingualFiles, tmp_path: Path
) -> None:
    trained(problem, tmp_path / "whole", training__steps=30, training__evaluate_every=0)
    trained(problem, tmp_path / "halves", training__steps=7, training__evaluate_every=0)
    trained(
        problem,
        tmp_path / "halves",
        resume=True,
        training__steps=30,
        training__evaluate_every=0,
        training__workers=1,
    )
    whole, halves = (
        Checkpoints(tmp_path / name / "checkpoints").at(30) for name in ("whole", "halves")
    )
    assert whole.state()["cursor"] == halves.state()["cursor"]
    assert whole.state()["cursor"]["epoch"] >= 2
    for kind in (MODEL, OPTIM):
        theirs = halves.tensors(kind)
        assert all(torch.equal(tensor, theirs[n]) for n, tensor in whole.tensors(kind).items())

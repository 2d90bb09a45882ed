"""A command line in this process, and one small run that all tests of this room share."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from heedful.cli.main import run as run_command

PROBLEM, PRESET = "algorithmic_reverse_binary40", "transformer_tiny"
SMALL = {
    "problem.train_examples": 2000,
    "problem.train_length": 6,
    "problem.eval_length": 12,
    "problem.valid_examples": 20,
    "problem.test_examples": 20,
    "model.dim": 32,
    "model.ff": 64,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "schedule.warmup": 30,
    "training.checkpoint_every": 20,
    "training.log_every": 20,
    "decode.extra_length": 5,
}
SMALL_SETTINGS = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
STEPS = 60


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def json(self) -> Any:
        return json.loads(self.out)


Heedful = Callable[..., Answer]


@pytest.fixture
def heedful(capsys: pytest.CaptureFixture[str]) -> Heedful:
    """`heedful("list", "problems")`: the command's status and what it said."""

    def call(*arguments: str | Path) -> Answer:
        capsys.readouterr()
        status = run_command([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Answer(status, said.out, said.err)

    return call


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Path:
    """A small run, trained once: three checkpoints. Tests read it and do not change it."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    arguments = ["train", PROBLEM, "--preset", PRESET, "--out", str(folder), "--steps", str(STEPS)]
    assert run_command([*arguments, *SMALL_SETTINGS]) == 0
    return folder

"""Short strings of bits to turn round, a shape to learn it with, and a clock that counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import nn

from heedful.config import vary
from heedful.data.preparation import Prepared, prepare
from heedful.peers import marian
from heedful.peers import training as room
from heedful.presets.base import Preset
from heedful.registry import presets, problems

PROBLEM = "algorithmic_reverse_binary40"
CPU = torch.device("cpu")
BITS = {"train_examples": 500, "train_length": 3, "eval_length": 3, "test_examples": 12}
SHAPE = {
    "model.dim": 32,
    "model.ff": 64,
    "model.heads": 2,
    "model.layers": 1,
    "model.dropout": 0.0,
    "batch.tokens": 512,
    "schedule.warmup": 60,
    "schedule.peak": 0.005,
    "decode.beam": 2,
    "decode.extra_length": 3,
    "training.log_every": 10,
}


class Counting:
    """A clock on which every look at it takes a second, so that nothing depends on the machine."""

    def __init__(self) -> None:
        self.looks = 0

    def seconds(self) -> float:
        self.looks += 1
        return float(self.looks)

    @contextmanager
    def paused(self) -> Iterator[None]:
        yield


@pytest.fixture(scope="session")
def prepared(data_folder: Path) -> Prepared:
    return prepare(PROBLEM, vary(problems.get(PROBLEM)(), BITS), data_folder)


@pytest.fixture(scope="session")
def preset() -> Preset:
    return vary(presets.get("transformer_algorithmic_tiny")(), SHAPE)


def new(preset: Preset, prepared: Prepared) -> nn.Module:
    torch.manual_seed(3)
    return marian.build(preset.model, prepared.tokenizer("targets").size)


@pytest.fixture(scope="session")
def learned(preset: Preset, prepared: Prepared) -> tuple[nn.Module, room.Lesson]:
    """A Marian that has learnt to turn short strings round, and how it went."""
    model = new(preset, prepared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "Clock", Counting)
        return model, room.train(model, preset, prepared, 500, CPU)

"""Sentences and a shape that take a second, and a run that has learnt to turn bits round."""

from pathlib import Path

import pytest
import torch

from heedful.bench.sentences import NAME, MadeUp
from heedful.config import vary
from heedful.presets.base import Preset
from heedful.registry import presets, problems
from heedful.runs.config import RunConfig
from heedful.training.trainer import train

CPU = torch.device("cpu")
SHAPE = {
    "model.dim": 16,
    "model.ff": 32,
    "model.heads": 2,
    "model.layers": 1,
    "model.attention_dropout": 0.0,
    "model.relu_dropout": 0.0,
    "batch.tokens": 512,
    "batch.row": 128,
    "batch.longest": 128,
}
BITS = {
    "train_examples": 500,
    "train_length": 4,
    "eval_length": 8,
    "valid_examples": 2,
    "test_examples": 12,
}
LEARNING = {
    "model.dim": 32,
    "model.ff": 64,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 512,
    "schedule.warmup": 30,
    "schedule.steps": 160,
    "decode.extra_length": 4,
    "training.steps": 160,
}


@pytest.fixture(scope="session")
def small() -> Preset:
    return vary(presets.get("transformer_tiny")(), SHAPE)


@pytest.fixture(scope="session")
def config(small: Preset) -> RunConfig:
    problem = MadeUp(vocabulary=50, train_examples=120, mean=12, longest=60, test_examples=2)
    return RunConfig(problem_name=NAME, problem=problem, preset_name="small", preset=small)


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Path:
    """A run that says short strings of bits backwards, and ends when it has."""
    name = "algorithmic_reverse_binary40"
    config = RunConfig(
        problem_name=name,
        problem=vary(problems.get(name)(), BITS),
        preset_name="transformer_algorithmic_tiny",
        preset=vary(presets.get("transformer_algorithmic_tiny")(), LEARNING),
    )
    folder = tmp_path_factory.mktemp("runs") / "bits"
    train(config, folder, data_folder, device="cpu")
    return folder

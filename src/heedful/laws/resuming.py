"""A run that was stopped and resumed is the run that was not."""

import tempfile
from pathlib import Path
from typing import Any

import torch

from heedful.config import vary
from heedful.laws.base import LawBroken, Subject, law
from heedful.models.classifier import Classifier, PairClassifier
from heedful.problems.base import Problem
from heedful.registry import problems
from heedful.runs.config import RunConfig
from heedful.runs.loading import load_model
from heedful.training.trainer import train
from heedful.training.watchers import Watchers

PROBLEM = "algorithmic_identity_binary40"
LABELS, LABELS_OF_TWO = "demo_language", "demo_translated"


@law
def resumed_equals_uninterrupted(subject: Subject) -> None:
    """Four steps, and two steps then two more from the checkpoint, end in the same weights."""
    name, problem = problem_for(subject)
    small = {"batch.tokens": 64, "batch.longest": 64, "training.evaluate_every": 0}
    if hasattr(subject.preset.batch, "row"):
        small["batch.row"] = 32

    def trained(folder: Path, steps: int, resume: bool = False) -> dict[str, torch.Tensor]:
        preset = vary(subject.preset, {**small, "training.steps": steps, "training.average": 0})
        config = RunConfig(
            problem_name=name, problem=problem, preset_name=subject.name, preset=preset
        )
        data = folder.parent / "data"
        train(config, folder, data, resume=resume, device="cpu", watch=lambda *_: Watchers())
        return load_model(folder, "latest", torch.device("cpu")).model.state_dict()

    with tempfile.TemporaryDirectory() as scratch:
        whole = trained(Path(scratch) / "whole", 4)
        trained(Path(scratch) / "halves", 2)
        halves = trained(Path(scratch) / "halves", 4, resume=True)
    for name, weight in whole.items():
        if not torch.equal(weight, halves[name]):
            raise LawBroken(f"after resuming, {name} is not what it is without a stop")


def problem_for(subject: Subject) -> tuple[str, Problem]:
    """A small problem that the model can be trained on."""
    small: dict[str, Any] = {"train_examples": 40, "valid_examples": 2}
    if isinstance(subject.model, Classifier):
        name = LABELS_OF_TWO if isinstance(subject.model, PairClassifier) else LABELS
        return name, vary(problems.get(name)(), {**small, "test_examples": 2, "text": "bytes"})
    return PROBLEM, vary(problems.get(PROBLEM)(), {**small, "train_length": 6, "eval_length": 6})

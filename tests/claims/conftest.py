"""A claim that takes a second to measure, and a place to measure it in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast, Beats

SIZES = {
    "problem.train_examples": 40,
    "problem.train_length": 6,
    "problem.eval_length": 8,
    "problem.valid_examples": 2,
    "problem.test_examples": 3,
    "model.dim": 16,
    "model.ff": 32,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "training.log_every": 2,
}


def arm(name: str, **settings: object) -> Arm:
    return Arm(
        name=name,
        problem="algorithmic_reverse_binary40",
        preset="transformer_algorithmic_tiny",
        settings={**SIZES, **settings},
        readings=(Reading(metrics=("exact_match",), checkpoint="latest"),),
    )


def quick(*arms: Arm, steps: int = 4, seeds: tuple[int, ...] = (1, 2)) -> Trainings:
    return Trainings(
        arms=arms or (arm("ours"), arm("theirs", **{"model.dim": 8})),
        budget=Budget(steps=steps),
        seeds=seeds,
        small=Small(settings={"model.dim": 4}, steps=1, examples=1),
    )


def claim(**changes: object) -> Claim:
    made = Claim(
        name="quick",
        system="a small Transformer",
        paper=Paper(
            authors="A. Author",
            title="A Title",
            venue="A Venue 2020",
            url="https://example.org/paper",
            where="Table 1",
            figure="12.5 %",
        ),
        statement="It can be done.",
        task="three sequences of bits",
        targets=(AtLeast("ours/exact_match", 0.0),),
        baselines=(Baseline(name="a narrower one", number="theirs/exact_match"),),
        cost="a second",
        measure=quick(),
    )
    return replace(made, **changes)


UNREACHED = claim(
    name="quick_unreached",
    targets=(AtLeast("ours/exact_match", 101.0), Beats("ours/exact_match", "peer/exact_match")),
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Claim]:
    """Two claims beside the real ones, for one test."""
    claims.names()
    made = claim()
    monkeypatch.setattr(claims, "_makers", dict(claims._makers))
    claims.register("quick")(lambda: made)
    claims.register("quick_unreached")(lambda: UNREACHED)
    yield made


@pytest.fixture
def context(tmp_path: Path, data_folder: Path) -> Context:
    return Context(data=data_folder, runs=tmp_path / "runs", device="cpu")

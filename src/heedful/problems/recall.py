"""Recall: what came first is asked for after much else, so that distance is all that is hard."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.symbols import Symbols


@problems.register("recall")
@dataclass(frozen=True, kw_only=True)
class Recall(Problem):
    """Say the first few symbols again after `distance` others.

    From each symbol to where it is to be said again it is always `kept` + `distance` symbols and
    the end symbol, whatever the model reads them with.
    """

    metrics: ClassVar[tuple[str, ...]] = ("token_accuracy", "exact_match")
    best_by: ClassVar[str] = "token_accuracy"

    distance: int = 64
    kept: int = 8
    symbols: int = 10
    train_examples: int = 100_000
    valid_examples: int = 200
    test_examples: int = 1_000

    def __post_init__(self) -> None:
        if self.distance < 0 or self.kept < 1 or self.symbols < 2:
            raise UsageError(
                "distance must be 0 or more, kept 1 or more and symbols 2 or more, "
                f"got {self.distance}, {self.kept} and {self.symbols}"
            )

    @property
    def features(self) -> dict[str, Feature]:
        feature = Feature(Symbols(self.symbols))
        return {"inputs": feature, "targets": feature}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        while True:
            inputs = rng.choices(range(self.symbols), k=self.kept + self.distance)
            yield {"inputs": inputs, "targets": inputs[: self.kept]}

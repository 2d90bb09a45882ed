"""What is to be learnt: a problem says what its features are, where examples come from, and how it
is judged. It does not batch, shuffle, or know a model."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from heedful.text.base import Text

TRAIN, VALID, TEST = "train", "valid", "test"

Example = dict[str, str | list[int]]


@dataclass(frozen=True)
class Feature:
    """One side of an example: how it is turned into ids, and by which vocabulary.

    Features that name the same vocabulary share it: it is trained on both.
    """

    text: Text
    vocabulary: str = "shared"


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """The base of all problems. Its fields may be varied (`--set problem.train_length=20`)."""

    version: ClassVar[int] = 1  # raised when the same fields come to give other examples
    metrics: ClassVar[tuple[str, ...]] = ("exact_match", "token_accuracy")
    best_by: ClassVar[str] = "exact_match"  # the metric that picks the best checkpoint

    @property
    @abstractmethod
    def features(self) -> dict[str, Feature]:
        """By name: "inputs" and "targets", or "targets" alone for what has no source."""

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int | None]:
        """How many examples each split takes from `examples`; None for all that come."""

    @abstractmethod
    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        """Raw examples, endless or not; the same for the same split and rng."""

"""Made-up texts of many words, as frequent as words are: the k-th comes about 1 / k as often.

Words are numbers by rank, so that the most frequent come first in the vocabulary.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.symbols import Symbols


@dataclass(frozen=True, kw_only=True)
class Zipf(Problem):
    """Words in groups: the k-th word is in group k modulo the number of groups."""

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"

    symbols: int = 20_000
    train_examples: int = 4_400
    valid_examples: int = 100
    test_examples: int = 400

    groups_of: ClassVar[str]  # the name of the field that says how many groups there are

    def __post_init__(self) -> None:
        groups = getattr(self, self.groups_of)
        if not 1 <= groups <= self.symbols:
            raise UsageError(
                f"problem.{self.groups_of} must be from 1 to problem.symbols={self.symbols}, "
                f"got {groups}"
            )

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(Symbols(self.symbols), "targets")}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def group(self, word: int) -> int:
        """The group that a word is in."""
        return word % int(getattr(self, self.groups_of))

    def draws(self) -> "list[Draw]":
        """For each group, its words to draw from."""
        groups = int(getattr(self, self.groups_of))
        return [Draw(range(first, self.symbols, groups)) for first in range(groups)]


class Draw:
    """Words to draw from, each as often as its rank says."""

    def __init__(self, words: range) -> None:
        self.words = words
        self.below = list(accumulate(1 / (word + 1) for word in words))

    def __call__(self, rng: random.Random) -> int:
        return rng.choices(self.words, cum_weights=self.below)[0]


@problems.register("zipf_lm")
@dataclass(frozen=True, kw_only=True)
class ZipfLM(Zipf):
    """Guess the next of many made-up words: which class of words it is of follows from the last."""

    groups_of: ClassVar[str] = "classes"

    classes: int = 20
    follows: float = 0.9  # how often the class follows from the last; else it is any
    length: int = 50  # words of an example

    def after(self, group: int) -> int:
        """The class that follows a class: all of them in a circle, by steps of 7."""
        return (group + 7) % self.classes

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        own = random.Random(f"{split}/{rng.getrandbits(64)}")
        draws = self.draws()
        while True:
            group = own.randrange(self.classes)
            words = []
            for _ in range(self.length):
                words.append(draws[group](own))
                follows = own.random() < self.follows
                group = self.after(group) if follows else own.randrange(self.classes)
            yield {"targets": words}


@problems.register("planted_topics")
@dataclass(frozen=True, kw_only=True)
class PlantedTopics(Zipf):
    """Passages about one topic each, with noise: words of a topic keep each other's company."""

    groups_of: ClassVar[str] = "topics"

    symbols: int = 2_000
    topics: int = 40
    noise: float = 0.3  # words of a passage that are about anything
    length: int = 20  # words of a passage
    train_examples: int = 20_000

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        own = random.Random(f"{split}/{rng.getrandbits(64)}")
        draws, any_ = self.draws(), Draw(range(self.symbols))
        while True:
            topic = draws[own.randrange(self.topics)]
            words = [
                (any_ if own.random() < self.noise else topic)(own) for _ in range(self.length)
            ]
            yield {"targets": words}

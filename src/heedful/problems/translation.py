"""Translation from one language into another."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.demo_en_fr import pairs
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.subwords import Subwords

UNSEEN, COREFERENCE = "test_unseen", "test_coreference"


@dataclass(frozen=True, kw_only=True)
class DemoEnFr(Problem):
    """English to French over a small grammar that is written out in this package.

    Besides the usual test there are two that ask for more: `test_unseen`, in which adjective and
    noun, or verb and object, never met in training; and `test_coreference`, in which "it" or "they"
    is il, elle, ils or elles by what the sentence means.
    """

    version: ClassVar[int] = 1  # raise it whenever the grammar says anything else
    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact_match", "pronouns")
    best_by: ClassVar[str] = "exact_match"
    direction: ClassVar[tuple[str, str]] = ("en", "fr")

    text: Text = field(default_factory=lambda: Subwords(size=4_000))
    train_examples: int = 240_000
    valid_examples: int = 1_000
    test_examples: int = 2_000
    unseen_examples: int = 1_000
    coreference_examples: int = 400

    @property
    def features(self) -> dict[str, Feature]:
        return {"inputs": Feature(self.text), "targets": Feature(self.text)}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {
            TRAIN: self.train_examples,
            VALID: self.valid_examples,
            TEST: self.test_examples,
            UNSEEN: self.unseen_examples,
            COREFERENCE: self.coreference_examples,
        }

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        for pair in pairs(split, rng):
            yield {"inputs": pair.english, "targets": pair.french}


@problems.register("translate_demo_en_fr")
def translate_demo_en_fr() -> DemoEnFr:
    """English to French, made by a small grammar: agreement, order, pronouns by meaning."""
    return DemoEnFr()

"""Labels for the sentences of the demo, and the sentences alone: problems made on the spot."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.classification import Classification, joined
from heedful.problems.demo_en_fr import pairs
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.subwords import Subwords


@dataclass(frozen=True, kw_only=True)
class Demo(Classification):
    """Labels about English and French sentences of a small grammar."""

    text: Text = field(default_factory=lambda: Subwords(size=2_000))
    train_examples: int = 20_000
    valid_examples: int = 500
    test_examples: int = 1_000

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}


@problems.register("demo_language")
@dataclass(frozen=True, kw_only=True)
class DemoLanguage(Demo):
    """Which language is it: en or fr?"""

    two = False
    names = ("en", "fr")

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        for pair in pairs(split, rng):
            if rng.random() < 0.5:
                yield {"inputs": pair.english, "targets": "en"}
            else:
                yield {"inputs": pair.french, "targets": "fr"}


@problems.register("demo_translated")
@dataclass(frozen=True, kw_only=True)
class DemoTranslated(Demo):
    """Does the French sentence say what the English one says: yes, or no?

    Where it does not, it is the translation of the sentence before.
    """

    two = True
    names = ("no", "yes")

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        before = ""
        for pair in pairs(split, rng):
            other = before not in ("", pair.french) and rng.random() < 0.5
            french = before if other else pair.french
            before = pair.french
            label = "no" if other else "yes"
            yield {"inputs": joined((pair.english, french)), "targets": label}


@problems.register("demo_text")
@dataclass(frozen=True, kw_only=True)
class DemoText(Problem):
    """Sentences, English and French in turn, for a language model to guess word by word."""

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"

    text: Text = field(default_factory=lambda: Subwords(size=2_000))
    train_examples: int = 20_000
    valid_examples: int = 500
    test_examples: int = 1_000

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(self.text)}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        for pair in pairs(split, rng):
            yield {"targets": pair.english}
            yield {"targets": pair.french}

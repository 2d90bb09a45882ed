"""Copying digits: the smallest test of what a recurrent network can carry.

Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks", NeurIPS 2014,
https://arxiv.org/abs/1409.3215, section 3.3: read from its end, a source hands over its first word
last, and the first word to be said is near.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.symbols import Symbols

LENGTHS = {"test_10": 10, "test_15": 15, "test_30": 30}  # splits of one length each


@problems.register("copy_digits")
@dataclass(frozen=True, kw_only=True)
class CopyDigits(Problem):
    """Say 5 to 15 digits again. The splits `test_10`, `test_15` and `test_30` have one length each;
    30 is twice what training shows."""

    metrics: ClassVar[tuple[str, ...]] = ("token_accuracy", "exact_match")
    best_by: ClassVar[str] = "token_accuracy"

    shortest: int = 5
    longest: int = 15
    symbols: int = 10
    train_examples: int = 100_000
    valid_examples: int = 200
    test_examples: int = 500

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest or self.symbols < 2:
            raise UsageError(
                "shortest must be 1 or more, longest no less than that and symbols 2 or more, "
                f"got {self.shortest}, {self.longest} and {self.symbols}"
            )

    @property
    def features(self) -> dict[str, Feature]:
        feature = Feature(Symbols(self.symbols))
        return {"inputs": feature, "targets": feature}

    @property
    def sizes(self) -> dict[str, int | None]:
        tests = dict.fromkeys((TEST, *LENGTHS), self.test_examples)
        return {TRAIN: self.train_examples, VALID: self.valid_examples, **tests}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        if split not in self.sizes:
            raise UsageError(f"no split named '{split}'. There are: {', '.join(self.sizes)}")
        own = random.Random(f"{split}/{rng.getrandbits(64)}")
        while True:
            length = LENGTHS.get(split) or own.randint(self.shortest, self.longest)
            digits = own.choices(range(self.symbols), k=length)
            yield {"inputs": digits, "targets": list(digits)}

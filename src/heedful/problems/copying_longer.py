"""Copying what is longer than anything trained on: whether places are counted or compared."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from heedful.problems.algorithmic import TEST_LONG, Identity
from heedful.problems.base import Example
from heedful.registry import problems

VALID_LONG = "valid_long"


@problems.register("copy_longer")
@dataclass(frozen=True, kw_only=True)
class CopyLonger(Identity):
    """Say up to 32 symbols of 100 again. In `test_long` all are of 64, twice the longest trained
    on; so in `valid_long`, which is there to choose settings by."""

    symbols: int = 100
    train_length: int = 32
    eval_length: int = 64

    @property
    def sizes(self) -> dict[str, int | None]:
        return {**super().sizes, VALID_LONG: self.valid_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        if split not in (VALID_LONG, TEST_LONG):
            yield from super().examples(split, rng)
        own = random.Random(f"{split}/{rng.getrandbits(64)}")
        while True:
            said = own.choices(range(self.symbols), k=self.eval_length)
            yield {"inputs": said, "targets": self.answer(said)}

"""Made-up sentence pairs with the lengths of real ones: work for a model, with nothing to learn.

Lengths are log-normal: a target has `mean` tokens on average, its end counted, with σ = 0.6 of the
logarithm, which is near to WMT's English-German in subwords; the source's logarithm is correlated
with it by 0.9. Both are cut at `longest`. Tokens are drawn by Zipf's law, so that embeddings are
looked up as unevenly as in text.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.text.specials import RESERVED
from heedful.text.symbols import Symbols

NAME = "made_up_pairs"
SIGMA = 0.6
TOGETHER = 0.9


@dataclass(frozen=True, kw_only=True)
class MadeUp(Problem):
    """Pairs of made-up sentences over one vocabulary."""

    vocabulary: int = 32_000  # the special ids counted
    mean: float = 27.0
    longest: int = 256
    train_examples: int = 30_000
    test_examples: int = 16
    seed: int = 1

    def __post_init__(self) -> None:
        if self.vocabulary <= RESERVED:
            raise UsageError(
                f"a vocabulary has {RESERVED} special ids and at least one more, got "
                f"{self.vocabulary}"
            )
        if not 2 <= self.mean <= self.longest:
            raise UsageError(
                f"a mean length must be from 2 to the longest, {self.longest}, got {self.mean}"
            )

    @property
    def features(self) -> dict[str, Feature]:
        feature = Feature(Symbols(self.vocabulary - RESERVED))
        return {"inputs": feature, "targets": feature}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.test_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        own = random.Random(f"{split}/{self.seed}/{rng.getrandbits(64)}")
        symbols = range(self.vocabulary - RESERVED)
        weights = list(accumulate(1 / (rank + 1) for rank in symbols))
        while True:
            sizes = self.lengths(own)
            inputs, targets = (own.choices(symbols, cum_weights=weights, k=n - 1) for n in sizes)
            yield {"inputs": inputs, "targets": targets}

    def lengths(self, rng: random.Random) -> tuple[int, int]:
        """A source's length and its target's, their ends counted."""
        middle = math.log(self.mean) - SIGMA**2 / 2  # of the logarithm, for such a mean
        target = rng.gauss(0, 1)
        source = TOGETHER * target + math.sqrt(1 - TOGETHER**2) * rng.gauss(0, 1)
        s, t = (round(math.exp(middle + SIGMA * x)) for x in (source, target))
        return min(max(s, 2), self.longest), min(max(t, 2), self.longest)

"""Lengths, counted: how many texts have each, in memory that does not grow with their number."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 1 << 16  # lengths from here on are counted together; the longest is still known
BARS = 32
SHOWN = 0.995  # of the lengths, before the bar of all longer ones


@dataclass(frozen=True)
class Bar:
    """How many lengths are from `begin` to `end`, both counted."""

    begin: int
    end: int
    count: int


class Lengths:
    """A histogram of lengths."""

    def __init__(self) -> None:
        self.counts: npt.NDArray[np.int64] = np.zeros(MOST, np.int64)
        self.longest = 0
        self.sum = 0

    def add(self, length: int) -> None:
        """Count one length."""
        self.counts[min(length, MOST - 1)] += 1
        self.longest = max(self.longest, length)
        self.sum += length

    def add_many(self, many: npt.NDArray[np.int32]) -> None:
        """Count lengths at once."""
        if len(many):
            counts = np.bincount(np.minimum(many, MOST - 1))
            self.counts[: len(counts)] += counts
            self.longest = max(self.longest, int(many.max()))
            self.sum += int(many.sum(dtype=np.int64))

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        return self.sum / max(1, self.count)

    def quantile(self, share: float) -> int:
        """The length that this share of the texts do not exceed."""
        return int(np.searchsorted(np.cumsum(self.counts), share * self.count))

    def bars(self) -> list[Bar]:
        """Bars of equal width over nearly all lengths; what is longer still is the last bar."""
        if not self.count:
            return []
        begin, top = int(np.flatnonzero(self.counts)[0]), self.quantile(SHOWN)
        width = -(-(top - begin + 1) // BARS)
        bars = [
            Bar(at, at + width - 1, int(self.counts[at : at + width].sum()))
            for at in range(begin, top + 1, width)
        ]
        over = self.count - sum(bar.count for bar in bars)
        return [*bars, Bar(bars[-1].end + 1, self.longest, over)] if over else bars

    def to_json(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "mean": self.mean,
            "median": self.quantile(0.5),
            "longest": self.longest,
            "bars": [[bar.begin, bar.end, bar.count] for bar in self.bars()],
        }

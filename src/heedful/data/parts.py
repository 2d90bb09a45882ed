"""A part of a plan: which examples make one batch, and where in it each of them lies.

Plans are pure functions of (lengths, batching, seed, epoch); making the arrays comes after.
"""

from dataclasses import dataclass

import numpy as np

from heedful.data.shards import Indices, Ints, Shards
from heedful.text.specials import PAD


@dataclass(frozen=True, eq=False)
class Part:
    """The examples of one batch, in the order of their rows; several may share a row."""

    examples: Indices  # [N]
    rows: Indices  # [N], never falling
    height: int  # rows of the batch; some may stay empty
    widths: tuple[int, ...]  # slots of a row, one a feature
    words: Indices | None = None  # of the bucket that it is of, padding at the end

    @property
    def slots(self) -> int:
        """Room for tokens, padding counted, over all features."""
        return self.height * sum(self.widths)


class Draws:
    """Random numbers that depend on (seed, epoch) alone, and on no version of any library.

    Only Philox's raw bits are used: numpy promises those, and not what it makes of them.
    """

    def __init__(self, seed: int, epoch: int) -> None:
        self._bits = np.random.Philox(key=np.array([seed % 2**64, epoch], np.uint64))

    def order(self, count: int) -> Indices:
        """The numbers below `count`, shuffled."""
        return np.argsort(self._bits.random_raw(count), kind="stable")


def assemble(shards: Shards, features: tuple[str, ...], part: Part) -> list[Ints]:
    """The arrays of a part, one a feature: ids, positions and segments, [3, B, L]; and one of its
    bucket's words, if it is of one."""
    sheets = []
    segments = part_segments(part)
    for feature, width in zip(features, part.widths, strict=True):
        lengths = shards.lengths[feature][part.examples].astype(np.int64)
        ends = np.cumsum(lengths)
        starts = ends - lengths  # in the gathered ids
        firsts = np.searchsorted(part.rows, part.rows)  # the first example of each one's row
        offsets = starts - starts[firsts]
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(starts, lengths)
        slots = np.repeat(part.rows * width + offsets, lengths) + within
        sheet = np.zeros((3, part.height * width), np.int32)
        sheet[0, slots] = shards.gather(feature, part.examples)
        sheet[1, slots] = within
        sheet[2, slots] = np.repeat(segments, lengths)
        sheets.append(sheet.reshape(3, part.height, width))
    if part.words is not None:
        there = part.words != PAD
        sheets.append(np.stack([part.words, np.cumsum(there) * there, there])[:, None])
    return sheets


def part_segments(part: Part) -> Indices:
    """Each example's number in its row, from 1; the same on every feature."""
    return np.arange(len(part.rows)) - np.searchsorted(part.rows, part.rows) + 1

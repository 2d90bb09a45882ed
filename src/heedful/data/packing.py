"""Packed rows: many examples a row, so that little is padding and every batch has one shape.

In shuffled order, until a quarter of a row is left; then out of the next ones, time and again, the
one that leaves both sides as much alike as it can, until none fits. Who is left over comes first in
the next row. It is a stream, so an epoch of any size starts at once.
"""

from collections.abc import Iterator

import numpy as np

from heedful.data.batching import Packed
from heedful.data.parts import Draws, Part
from heedful.data.shards import Indices, Ints

_CHOSEN = 4  # the last so-manieth of a row is filled by choice
_NEVER = np.iinfo(np.int64).max
_ALIKE = 10  # slots of room that are as bad as one by which the sides differ


def plan(lengths: list[Ints], kept: Indices, batching: Packed, draws: Draws) -> Iterator[Part]:
    """One epoch: every kept example once. `lengths` has one array a feature, over all examples."""
    height = batching.rows
    widths = (batching.row,) * len(lengths)
    waiting: list[Indices] = []
    for row in _rows(lengths, kept, batching, draws):
        waiting.append(row)
        if len(waiting) == height:
            yield _part(waiting, height, widths)
            waiting = []
    if waiting:
        yield _part(waiting, height, widths)


def _rows(lengths: list[Ints], kept: Indices, batching: Packed, draws: Draws) -> Iterator[Indices]:
    # With more than two features the longest of the others stands for all: safe, if less tight.
    others = np.maximum.reduce(lengths[1:]) if len(lengths) > 1 else lengths[0]
    least = max(1, int(np.maximum(lengths[0], others)[kept].min()))
    order = kept[draws.order(len(kept))]
    ahead = batching.row // least + batching.window  # more than these a row never looks at
    waiting, later = order[:ahead], order[ahead:]
    while len(waiting):
        sides = lengths[0][waiting].astype(np.int64), others[waiting].astype(np.int64)
        taken = _fill(*sides, batching.row, batching.window)
        yield waiting[taken]
        stays = np.ones(len(waiting), bool)
        stays[taken] = False
        waiting = np.concatenate([waiting[stays], later[: len(taken)]])
        later = later[len(taken) :]


def _fill(a: Indices, b: Indices, room: int, window: int) -> list[int]:
    """Which of the examples that wait make up a row; `a` and `b` are the lengths of their sides."""
    longer = np.maximum(np.cumsum(a), np.cumsum(b))
    count = max(1, int(np.searchsorted(longer, room - room // _CHOSEN, side="right")))
    left_a, left_b = room - int(a[:count].sum()), room - int(b[:count].sum())
    a, b = a[count : count + window], b[count : count + window]
    taken, apart, together = list(range(count)), a - b, a + b
    while len(a):
        cost = np.abs(apart - (left_a - left_b))
        cost *= _ALIKE
        cost -= together  # and what is left now, which is the same for all
        cost[(a > left_a) | (b > left_b)] = _NEVER
        best = int(cost.argmin())
        if cost[best] == _NEVER:
            break
        left_a, left_b = left_a - int(a[best]), left_b - int(b[best])
        taken.append(count + best)
        a[best] = room + 1
    return taken


def _part(rows: list[Indices], height: int, widths: tuple[int, ...]) -> Part:
    return Part(
        np.concatenate(rows).astype(np.int64),
        np.repeat(np.arange(len(rows)), [len(row) for row in rows]),
        height,
        widths,
    )

"""Packed rows: many examples a row, so that little is padding and every batch has one shape.

First fit over a few open rows, in shuffled order: an example goes into the oldest row with room on
every side, and a row leaves when nothing fits any more or when it has waited longest. It is a
stream, so an epoch of any size starts at once.
"""

from collections.abc import Iterator

import numpy as np

from heedful.data.batching import Packed
from heedful.data.parts import Draws, Part
from heedful.data.shards import Indices, Ints

_CHUNK = 65_536  # examples turned into Python numbers at a time


def plan(lengths: list[Ints], kept: Indices, batching: Packed, draws: Draws) -> Iterator[Part]:
    """One epoch: every kept example once. `lengths` has one array a feature, over all examples."""
    height = batching.rows
    widths = (batching.row,) * len(lengths)
    waiting: list[list[int]] = []
    for row in _rows(lengths, kept, batching, draws):
        waiting.append(row)
        if len(waiting) == height:
            yield _part(waiting, height, widths)
            waiting = []
    if waiting:
        yield _part(waiting, height, widths)


def _rows(
    lengths: list[Ints], kept: Indices, batching: Packed, draws: Draws
) -> Iterator[list[int]]:
    first = lengths[0]
    # With more than two features the longest of the others stands for all: safe, if less tight.
    others = np.maximum.reduce(lengths[1:]) if len(lengths) > 1 else first
    least_first, least_other = int(first[kept].min()), int(others[kept].min())
    order = kept[draws.order(len(kept))]
    room_first: list[int] = []
    room_other: list[int] = []
    rows: list[list[int]] = []
    for begin in range(0, len(order), _CHUNK):
        chunk = order[begin : begin + _CHUNK]
        columns = (chunk.tolist(), first[chunk].tolist(), others[chunk].tolist())
        for example, a, b in zip(*columns, strict=True):
            for i, room in enumerate(room_first):
                if room >= a and room_other[i] >= b:
                    rows[i].append(example)
                    room_first[i] = room = room - a
                    room_other[i] -= b
                    if room < least_first or room_other[i] < least_other:
                        del room_first[i], room_other[i]
                        yield rows.pop(i)
                    break
            else:
                if len(rows) == batching.window:
                    del room_first[0], room_other[0]
                    yield rows.pop(0)
                rows.append([example])
                room_first.append(batching.row - a)
                room_other.append(batching.row - b)
    yield from rows


def _part(rows: list[list[int]], height: int, widths: tuple[int, ...]) -> Part:
    counts = [len(row) for row in rows]
    examples = np.array([example for row in rows for example in row], np.int64)
    return Part(examples, np.repeat(np.arange(len(rows)), counts), height, widths)

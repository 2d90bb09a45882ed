"""What recurrent layers carry from one sequence to another: tables of states.

A table has for each row of the batch either one state, or one for each segment by its number. So
the sequences of a packed row each begin with what belongs to them. B batch, N states a row, H
remembered.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.nn.attention import Encoded
from heedful.nn.cells import State
from heedful.nn.layout import Layout

Table = tuple[Tensor, ...]  # as `State`, each [B, N, H]


@dataclass(frozen=True, eq=False)
class Recalled(Encoded):
    """What an encoder made of a source, and what its layers remembered in the end."""

    ends: tuple[Table, ...]  # a layer

    def select(self, rows: Tensor) -> "Recalled":
        ends = tuple(tuple(part.index_select(0, rows) for part in table) for table in self.ends)
        return Recalled(self.x.index_select(0, rows), self.at.select(rows), ends)


def spread(table: Table, rows: int) -> Table:
    """The same states for so many rows: of those that share a source's, each has it."""
    if not table or len(table[0]) == rows:
        return table
    return tuple(part.repeat_interleave(rows // len(part), 0) for part in table)


def of_rows(table: Table, at: Layout) -> State:
    """The state of each row that holds one sequence, [B, H]."""
    if table[0].shape[1] == 1:
        return tuple(part[:, 0] for part in table)
    if not at.segments.shape[1]:
        return tuple(part[:, 1] for part in table)
    number = at.segments.amax(1).clamp(min=1)
    return tuple(_pick(part, number[:, None])[:, 0] for part in table)


def of_tokens(table: Table, at: Layout) -> Table:
    """The state of each token's sequence, [B, L, H]."""
    if table[0].shape[1] == 1:
        return tuple(part.expand(-1, at.segments.shape[1], -1) for part in table)
    return tuple(_pick(part, at.segments) for part in table)


def ends_of(states: Table, start: Table, at: Layout) -> Table:
    """By number, the state after each segment's last token, where `states` [B, L, H] are those
    after every token; of a segment that is not there, the state it would have begun with."""
    rows, length = at.segments.shape
    count = max(length + 1, start[0].shape[1])
    if not length:
        return start
    places = torch.arange(length, device=at.segments.device).expand(rows, length)
    ends = at.segments.new_full((rows, count), -1)
    ends = ends.scatter_reduce(1, at.segments, places, "amax")
    there = (ends >= 0)[..., None]
    found = []
    for part, before in zip(states, start, strict=True):
        wide = before if before.shape[1] > 1 else before.expand(-1, count, -1)
        if wide.shape[1] < count:
            more = wide[:, -1:].expand(-1, count - wide.shape[1], -1)
            wide = torch.cat([wide, more], 1)
        found.append(torch.where(there, _pick(part, ends.clamp(min=0)), wide))
    return tuple(found)


def _pick(part: Tensor, numbers: Tensor) -> Tensor:
    """[B, N, H] and [B, M] to [B, M, H]; what is beyond the last is the last."""
    there = numbers.clamp(max=part.shape[1] - 1)[..., None]
    return part.gather(1, there.expand(-1, -1, part.shape[2]))

"""A memory that stays where it is: as long as it may become from the start, and written in place.

A step of decoding then reads and writes the same tensors each time, so that it can be recorded on a
GPU and replayed. Places that are not written yet are padding, which no layer looks at.

Rows that are put in another order are moved. Or they are traced: all stays where it was written,
and a table says in which row that was. B batch, L length.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

from heedful.nn.layout import Layout
from heedful.nn.memory import Memory


class Slate(Memory):
    """A memory with the rooms of another one that has been through a step, still empty: for so
    many rows, so many sources and at most `length` tokens. `traced` where rows are not moved."""

    place: Tensor  # [1] int64: where the next token is written
    trace: Tensor | None  # [B, L] int32: in which row each place of a row was written

    _grown: "tuple[_Fixed, ...] | None"  # type: ignore[assignment]
    _rooms: "dict[Any, Slate]"  # type: ignore[assignment]

    def __init__(
        self,
        like: Memory,
        rows: int,
        sources: int,
        length: int,
        house: "Slate | None" = None,
        traced: bool = False,
    ) -> None:
        super().__init__(house)
        self.length = length
        self._table: Tensor | None = None
        self._marked: tuple[Layout, Tensor] | None = None
        if house is None:
            device = device_of(like)
            self.place = torch.zeros(1, dtype=torch.long, device=device)
            self.rows = torch.arange(rows, dtype=torch.int32, device=device)[:, None]
            self.trace = self.rows.repeat(1, length) if traced else None
        else:
            self.place, self.rows, self.trace = house.place, house.rows, house.trace
        if like._grown is not None:
            self._grown = tuple(
                _Fixed(g.dim, _store(g), rows, length, self.place) for g in like._grown
            )
        self._kept = mapped(lambda x: x.new_zeros(rows, *x.shape[1:]), like._kept)
        self._once = mapped(lambda x: x.new_zeros(sources, *x.shape[1:]), like._once)
        for name, room in like._rooms.items():
            self._rooms[name] = Slate(room, rows, sources, length, house or self)

    def load(
        self, memory: Memory, length: int, rows: Tensor | None = None, sources: Tensor | None = None
    ) -> None:
        """Take over the first `length` tokens of a memory with the same rooms: these rows of it,
        and what was read from these sources. None is for all, as they stand."""
        if self._house is None:
            self.place.fill_(length)
            if self.trace is not None:
                self.trace.copy_(self.rows.expand_as(self.trace))
        self._seen = None
        for mine, other in zip(self._grown or (), memory._grown or (), strict=True):
            store = _store(other)
            if isinstance(memory, Slate) and memory.trace is not None:
                store = traced(store, other.dim, memory.trace, rows)
            else:
                store = _picked(store, rows)
            mine.load(store, length)
        pour(_picked(memory._kept, rows), self._kept)
        pour(_picked(memory._once, sources), self._once)
        for name, room in self._rooms.items():
            room.load(memory[name], length, rows, sources)

    def advance(self) -> None:
        """A token was written in all rooms."""
        if self.trace is not None:
            self.trace.index_copy_(1, self.place, self.rows)
        self.place.add_(1)

    def extend(self, *new: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, ...]:
        written = self.write(*new)
        if self.trace is None:
            return written
        now = self.trace.index_copy(1, self.place, self.rows)
        return tuple(traced(x, dim, now) for x, dim in zip(written, dims, strict=True))

    def write(self, *new: Tensor) -> tuple[Tensor, ...]:
        """As `extend`, but what comes back lies as it was written."""
        return tuple(room.append(x) for room, x in zip(self.stores, new, strict=True))

    @property
    def stores(self) -> "tuple[_Fixed, ...]":
        """What grows in this room."""
        return self._grown or ()

    def mark(self, at: Layout) -> Tensor:
        """Append a layout, as `see` does; the segments of all places, as they were written."""
        if isinstance(self._house, Slate):
            return self._house.mark(at)
        if self._marked is None or self._marked[0] is not at:
            self._marked = at, self._rooms["layout"].write(at.positions, at.segments)[1]
        return self._marked[1]

    def table(self, make: Callable[[int], Tensor]) -> Tensor:
        """What `make` gave the first time, for as many places as there are."""
        if self._table is None:
            self._table = make(self.length)
        return self._table

    def recall(self, default: Callable[[], Any]) -> Any:
        """A copy of what was kept, since keeping something else overwrites it."""
        return mapped(torch.clone, self._kept)

    def keep(self, state: Any) -> None:
        pour(state, self._kept)

    def reorder(self, rows: Tensor) -> None:
        self._seen = None
        if self.trace is None:
            for grown in self.stores:
                grown.store.copy_(grown.store.index_select(0, rows))
        elif self._house is None:
            self.trace.copy_(self.trace.index_select(0, rows))
        pour(_picked(self._kept, rows), self._kept)
        for room in self._rooms.values():
            room.reorder(rows)


class _Fixed:
    """A tensor of all its length from the start; what is appended is written at the house's place,
    and what comes back is all of it."""

    def __init__(self, dim: int, like: Tensor, rows: int, length: int, place: Tensor) -> None:
        shape = [rows, *like.shape[1:]]
        shape[dim] = length
        self.dim, self.place, self.store = dim, place, like.new_zeros(shape)

    def append(self, x: Tensor) -> Tensor:
        return self.store.index_copy_(self.dim, self.place, x)

    def load(self, store: Tensor, length: int) -> None:
        self.store.zero_()  # what was written here before, above all that it was real
        self.store.narrow(self.dim, 0, length).copy_(store.narrow(self.dim, 0, length))


def traced(store: Tensor, dim: int, trace: Tensor, rows: Tensor | None = None) -> Tensor:
    """What these rows hold, place by place from the row in which it was written; None is for all.

    `store` is as long as `trace` along `dim`.
    """
    lines = _picked(trace, rows).long()
    places = torch.arange(lines.shape[1], device=lines.device)
    return store.movedim(dim, 1)[lines, places].movedim(1, dim)


def _store(grown: Any) -> Tensor:
    """The tensor of what has grown, in a memory of either kind."""
    store: Tensor = grown.store
    return store


def lengths(memory: Memory) -> set[int]:
    """How many tokens the rooms of a growing memory hold: one number where all go step by step."""
    here = {grown.length for grown in memory._grown or ()}
    return here.union(*map(lengths, memory._rooms.values()))


def device_of(memory: Memory) -> torch.device:
    """Where a memory is."""
    return next(tensors(memory)).device


def tensors(memory: Memory) -> Iterator[Tensor]:
    """All that a memory holds."""
    yield from map(_store, memory._grown or ())
    yield from _leaves(memory._kept)
    yield from _leaves(memory._once)
    for room in memory._rooms.values():
        yield from tensors(room)


def _picked(value: Any, rows: Tensor | None) -> Any:
    return value if rows is None else mapped(lambda x: x.index_select(0, rows), value)


def pour(value: Any, into: Any) -> None:
    """Copy every tensor of a state into its place in another of the same build."""
    for tensor, place in zip(_leaves(value), _leaves(into), strict=True):
        if tensor is not place:
            place.copy_(tensor)


def _leaves(value: Any) -> list[Tensor]:
    """The tensors of a state, always in the same order."""
    found: list[Tensor] = []

    def noted(x: Tensor) -> Tensor:
        found.append(x)
        return x

    mapped(noted, value)
    return found


def mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A state with each of its tensors put through a function."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, Layout):
        return Layout(function(value.positions), function(value.segments), filled=value.filled)
    if isinstance(value, tuple | list):
        return type(value)([mapped(function, item) for item in value])
    if isinstance(value, dict):
        return {name: mapped(function, item) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: mapped(function, getattr(value, f.name)) for f in fields(value)}
        return replace(value, **parts)
    return value

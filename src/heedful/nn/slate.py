"""A memory that stays where it is: as long as it may become from the start, and written in place.

A step of decoding then reads and writes the same tensors each time, so that it can be recorded on a
GPU and replayed. Places that are not written yet are padding, which no layer looks at.
B batch, L length.
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
    many rows, so many sources and at most `length` tokens."""

    _grown: "tuple[_Fixed, ...] | None"  # type: ignore[assignment]
    _rooms: "dict[Any, Slate]"  # type: ignore[assignment]

    def __init__(
        self, like: Memory, rows: int, sources: int, length: int, house: "Slate | None" = None
    ) -> None:
        super().__init__(house)
        if house is None:
            self.place = torch.zeros(1, dtype=torch.long, device=device_of(like))
        if like._grown is not None:
            self._grown = tuple(
                _Fixed(g.dim, _store(g), rows, length, house or self) for g in like._grown
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
        self._seen = None
        for mine, other in zip(self._grown or (), memory._grown or (), strict=True):
            mine.load(_store(other), length, rows)
        pour(_picked(memory._kept, rows), self._kept)
        pour(_picked(memory._once, sources), self._once)
        for name, room in self._rooms.items():
            room.load(memory[name], length, rows, sources)

    def advance(self) -> None:
        """A token was written in all rooms."""
        self.place.add_(1)

    def recall(self, default: Callable[[], Any]) -> Any:
        """A copy of what was kept, since keeping something else overwrites it."""
        return mapped(torch.clone, self._kept)

    def keep(self, state: Any) -> None:
        pour(state, self._kept)

    def reorder(self, rows: Tensor) -> None:
        self._seen = None
        for grown in self._grown or ():
            grown.store.copy_(grown.store.index_select(0, rows))
        pour(_picked(self._kept, rows), self._kept)
        for room in self._rooms.values():
            room.reorder(rows)


class _Fixed:
    """A tensor of all its length from the start; what is appended is written at the house's place,
    and what comes back is all of it."""

    def __init__(self, dim: int, like: Tensor, rows: int, length: int, house: Slate) -> None:
        shape = [rows, *like.shape[1:]]
        shape[dim] = length
        self.dim, self.house, self.store = dim, house, like.new_zeros(shape)

    def append(self, x: Tensor) -> Tensor:
        return self.store.index_copy_(self.dim, self.house.place, x)

    def load(self, store: Tensor, length: int, rows: Tensor | None) -> None:
        self.store.zero_()  # what was written here before, above all that it was real
        self.store.narrow(self.dim, 0, length).copy_(
            _picked(store.narrow(self.dim, 0, length), rows)
        )


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

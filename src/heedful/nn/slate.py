"""A memory that stays where it is: as long as it may become from the start, and written in place.

A step of decoding then reads and writes the same tensors each time, so that it can be recorded on a
GPU and replayed. Places that are not written yet are padding, which no layer looks at.

Rows that are put in another order are moved. Or they are traced: all stays where it was written,
and a table says in which row that was. B batch, L length.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import torch
from torch import Tensor

from heedful.nn.kernels.relative import nowhere
from heedful.nn.kernels.step import retrace
from heedful.nn.layout import Layout
from heedful.nn.memory import Memory
from heedful.nn.stacks import Stack, joined, leaves, mapped, outline, parts, wholes


class Slate(Memory):
    """A memory with the rooms of another one that has been through a step, still empty: for so
    many rows, so many sources and at most `length` tokens. `traced` where rows are not moved."""

    place: Tensor  # [1] int64: where the next token is written
    trace: Tensor | None  # [B, L] int32: in which row each place of a row was, or will be, written

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
        self.length, self.sources = length, sources
        self._table: Tensor | None = None
        self._marked: tuple[Layout, Tensor] | None = None
        self._next: Any = None  # what is to be kept, once all rooms have their token
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
        self._kept = mapped(lambda x: outline(x, rows, *x.shape[1:]), like._kept)
        self._once = mapped(lambda x: outline(x, sources, *x.shape[1:]), like._once)
        for name, room in like._rooms.items():
            self._rooms[name] = Slate(room, rows, sources, length, house or self)
        self._stacks: list[Stack] = joined(self) if house is None else []  # all that is in a house

    def load(
        self, memory: Memory, length: int, rows: Tensor | None = None, sources: Tensor | None = None
    ) -> None:
        """Take over the first `length` tokens of a memory with the same rooms: these rows of it,
        and what was read from these sources. None is for all, as they stand."""
        self.forget()
        self.place.fill_(length)
        if self.trace is not None:
            self.trace.copy_(self.rows.expand_as(self.trace))
        lines = places = None
        has: list[Stack] = []
        if isinstance(memory, Slate):
            has = memory._stacks
            if memory.trace is not None:
                lines = _picked(memory.trace[:, :length], rows).long()
                places = torch.arange(length, device=lines.device)
        for mine, theirs in zip(
            self._stacks, wholes(memory, has, self._stacks, length), strict=True
        ):
            which = sources if mine.kind == "once" else rows
            if mine.dim is None:
                if which is None:
                    mine.whole.copy_(theirs)
                else:
                    torch.index_select(theirs, 1, which, out=mine.whole)
                continue
            if lines is not None:
                theirs = theirs.movedim(mine.dim, 2)[:, lines, places].movedim(2, mine.dim)
            elif which is not None:
                theirs = theirs.index_select(1, which)
            mine.whole.narrow(mine.dim, 0, length).copy_(theirs)
            # The rest is padding. Nobody looks at what was written there before; but what is no
            # number would still be none when it is multiplied by nothing.
            mine.whole.narrow(mine.dim, length, self.length - length).zero_()

    def advance(self, rows: Tensor | None = None) -> None:
        """A token was written in all rooms. Then rows are put in this order, those of a source
        among each other; None is for leaving them."""
        self._keep(rows)
        if rows is not None:
            self._follow(rows, near=True)
        self.place.add_(1)
        self.forget()

    def extend(self, *new: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, ...]:
        written = self.write(*new)
        if self.trace is None:
            return written
        return tuple(traced(x, dim, self.trace) for x, dim in zip(written, dims, strict=True))

    def write(self, *new: Tensor) -> tuple[Tensor, ...]:
        """As `extend`, but what comes back lies as it was written."""
        return tuple(room.append(x) for room, x in zip(self.stores, new, strict=True))

    @property
    def stores(self) -> "tuple[_Fixed, ...]":
        """What grows in this room."""
        return self._grown or ()

    def mark(self, at: Layout) -> Tensor:
        """Append the segments of a layout, where nobody is to `see` it; the segments of all places,
        as they were written."""
        if isinstance(self._house, Slate):
            return self._house.mark(at)
        if self._marked is None or self._marked[0] is not at:
            self._marked = at, self._rooms["layout"].stores[1].append(at.segments)
        return self._marked[1]

    def table(self, make: Callable[[int], Tensor]) -> Tensor:
        """What `make` gave the first time, for as many places as there are."""
        if self._table is None:
            self._table = make(self.length)
        return self._table

    def recall(self, default: Callable[[], Any]) -> Any:
        return self._kept if self._next is None else self._next

    def keep(self, state: Any) -> None:
        """It is written when all rooms have their token: until then, what was kept may be read."""
        self._next = state

    def reorder(self, rows: Tensor) -> None:
        for stack in self._stacks:
            if stack.kind == "kept":
                stack.whole.copy_(stack.whole.index_select(1, rows))
        self._follow(rows, near=False)
        self.forget()

    def _follow(self, rows: Tensor, near: bool) -> None:
        """What has grown, in this order of rows; `near` when the newest token is there, but does
        not count yet, and rows stay with their source."""
        if self.trace is None:
            for stack in self._stacks:
                if stack.kind == "grown":
                    stack.whole.copy_(stack.whole.index_select(1, rows))
        elif near and not nowhere(self.trace.device.type):
            retrace(self.trace, rows, self.place, self.sources)
        else:
            written = torch.arange(self.length, device=rows.device) < self.place + near
            self.trace.copy_(torch.where(written, self.trace.index_select(0, rows), self.rows))

    def _keep(self, rows: Tensor | None) -> None:
        """Write what rooms were told to keep, in this order of rows."""
        coming = dict(self._told())
        kept = [stack for stack in self._stacks if stack.kind == "kept"]
        mine = {stack.whole.untyped_storage().data_ptr() for stack in kept}
        written = []
        for stack in kept:
            if rows is None and coming.keys().isdisjoint(stack.paths):
                continue
            group = [
                coming.get(path, old) for path, old in zip(stack.paths, stack.whole, strict=True)
            ]
            if len(group) > 1:
                whole = torch.stack(group)
            else:  # what was kept may be kept again, or some of it
                (whole,) = group
                reused = whole.untyped_storage().data_ptr() in mine
                whole = (whole.clone() if reused else whole)[None]
            written.append((stack, whole))
        for stack, whole in written:
            if rows is None:
                stack.whole.copy_(whole)
            else:
                torch.index_select(whole, 1, rows, out=stack.whole)

    def _told(self, path: tuple[Hashable, ...] = ()) -> Iterator[tuple[Hashable, Tensor]]:
        """What this and all inner rooms were told to keep, by its path."""
        if self._next is not None:
            told = zip(leaves(self._next), leaves(self._kept), strict=True)
            for number, (tensor, _) in enumerate(told):
                yield (*path, "kept", number), tensor
        for name, room in self._rooms.items():
            yield from room._told((*path, name))

    def forget(self) -> None:
        """Nothing of a step is left, in this and all inner rooms, but what was written. So too of
        one that was not done to its end, as when it could not be recorded."""
        self._seen = self._marked = self._next = None
        for room in self._rooms.values():
            room.forget()


class _Fixed:
    """A tensor of all its length from the start; what is appended is written at the house's place,
    and what comes back is all of it."""

    def __init__(self, dim: int, like: Tensor, rows: int, length: int, place: Tensor) -> None:
        shape = [rows, *like.shape[1:]]
        shape[dim] = length
        self.dim, self.place, self.store = dim, place, outline(like, *shape)

    def append(self, x: Tensor) -> Tensor:
        return self.store.index_copy_(self.dim, self.place, x)


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
    return (part.tensor for part in parts(memory))


def _picked(x: Tensor, rows: Tensor | None) -> Tensor:
    return x if rows is None else x.index_select(0, rows)

"""What a decoder remembers between steps: one path for training and decoding.

`Memory` is a tree of rooms that layers fill; `FORGET` is the one that keeps nothing. A layer never
asks which of the two it was given, but for whether what it would keep is worth the making. B batch,
L length.
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from heedful.nn.layout import Layout

SPARE = 8  # places at least that are made at a time


class Memory:
    """A room that keeps what it is told, with further rooms inside, by name or number."""

    keeps = True  # whether what is kept is ever recalled

    def __init__(self, house: "Memory | None" = None) -> None:
        self._house = house  # the outermost room; None in that room itself
        self._rooms: dict[Any, Memory] = {}
        self._grown: tuple[_Growing, ...] | None = None
        self._once: Any = None
        self._kept: Any = None
        self._seen: tuple[Layout, Layout] | None = None

    def __getitem__(self, name: Any) -> "Memory":
        if name not in self._rooms:
            self._rooms[name] = Memory(self.house)
        return self._rooms[name]

    @property
    def house(self) -> "Memory":
        """The outermost room: for what all layers of a pass have in common."""
        return self._house or self

    def extend(self, *new: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, ...]:
        """Append each tensor along its dim; give back all there is so far."""
        if self._grown is None:
            self._grown = tuple(_Growing(dim) for dim in dims)
        return tuple(room.append(x) for room, x in zip(self._grown, new, strict=True))

    def see(self, at: Layout) -> Layout:
        """Append a layout; give back the layout of all there is so far.

        There is one for the whole house. Every layer of one pass asks with the same `at` and gets
        the same answer, so it is kept once, and the masks made for it are made once.
        """
        if self._house is not None:
            return self._house.see(at)
        if self._seen is None or self._seen[0] is not at:
            positions, segments = self["layout"].extend(at.positions, at.segments, dims=(1, 1))
            # Rows that have come to this place in so many places have no padding behind them.
            new, there = at.positions.shape[1], positions.shape[1]
            whole = at.start is not None and at.start + new == there
            self._seen = (at, Layout(positions, segments, start=0 if whole else None))
        return self._seen[1]

    def once(self, make: Callable[[], Any]) -> Any:
        """What `make` gave the first time: what is read from the source and never changes.

        It is laid out in one piece, since it will be read at every step.
        """
        if self._once is None:
            self._once = _in_one_piece(make())
        return self._once

    def recall(self, default: Callable[[], Any]) -> Any:
        """What was last kept here, or `default()` where nothing was."""
        return default() if self._kept is None else self._kept

    def keep(self, state: Any) -> None:
        self._kept = state

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order, in this and all inner rooms: what is read
        from the source too. A row may be named several times (to widen) or not at all."""
        self.select_sources(rows)
        self.reorder(rows)

    def reorder(self, rows: Tensor) -> None:
        """As `select`, but what was read from the source stays as it is.

        For several outputs of one source: after it, there may be a whole number of rows for each
        source's, which stand together and read it together.
        """
        self._kept = _tree_select(self._kept, rows)
        self._seen = None
        for grown in self._grown or ():
            grown.select(rows)
        for room in self._rooms.values():
            room.reorder(rows)

    def select_sources(self, rows: Tensor) -> None:
        """Keep these rows of what was read from the source, in this order; all else stays."""
        self._once = _tree_select(self._once, rows)
        for room in self._rooms.values():
            room.select_sources(rows)


class _Forget(Memory):
    """The memory that keeps nothing: what a whole pass at once needs."""

    keeps = False

    def __getitem__(self, name: Any) -> Memory:
        return self

    def extend(self, *new: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, ...]:
        return new

    def see(self, at: Layout) -> Layout:
        return at

    def once(self, make: Callable[[], Any]) -> Any:
        return make()

    def recall(self, default: Callable[[], Any]) -> Any:
        return default()

    def keep(self, state: Any) -> None:
        pass


FORGET: Memory = _Forget()


class _Growing:
    """A tensor that grows along one dim, in storage with some room to spare: enough that appending
    is cheap, and little, since selecting rows copies it too."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.length = 0
        self.store: Tensor | None = None

    def append(self, x: Tensor) -> Tensor:
        end = self.length + x.shape[self.dim]
        if self.store is None or end > self.store.shape[self.dim]:
            shape = list(x.shape)
            shape[self.dim] = end + max(end // 8, SPARE)
            roomier = x.new_empty(shape)
            if self.store is not None:
                self.view(roomier).copy_(self.view(self.store))
            self.store = roomier
        self.store.narrow(self.dim, self.length, x.shape[self.dim]).copy_(x)
        self.length = end
        return self.view(self.store)

    def view(self, store: Tensor) -> Tensor:
        return store.narrow(self.dim, 0, self.length)

    def select(self, rows: Tensor) -> None:
        if self.store is not None:
            self.store = self.store.index_select(0, rows)


def _in_one_piece(value: Any) -> Any:
    """A tensor, or the tensors of a tuple, each laid out without gaps."""
    if isinstance(value, tuple):
        return tuple(map(_in_one_piece, value))
    return value.contiguous() if isinstance(value, Tensor) else value


def _tree_select(value: Any, rows: Tensor) -> Any:
    """`value[rows]` for every tensor in nested tuples, lists and dicts, and for layouts."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        return value.index_select(0, rows)
    if isinstance(value, Layout):
        return value.select(rows)
    if isinstance(value, tuple):
        return tuple(_tree_select(item, rows) for item in value)
    if isinstance(value, list):
        return [_tree_select(item, rows) for item in value]
    if isinstance(value, dict):
        return {name: _tree_select(item, rows) for name, item in value.items()}
    select = getattr(value, "select", None)
    if select is not None:
        return select(rows)
    raise TypeError(f"memory cannot reorder a {type(value).__name__}")

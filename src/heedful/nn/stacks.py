"""What a memory holds, part by part; and parts of one shape in one piece, moved all at once.

N parts of a shape, B batch.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from heedful.nn.layout import Layout
from heedful.nn.memory import Memory

Kind = Literal["grown", "kept", "once"]


class Part(NamedTuple):
    """One tensor of a memory."""

    path: Hashable  # its room, its kind, and the how-manieth of the kind it is
    kind: Kind
    dim: int | None  # along which it grows
    tensor: Tensor


@dataclass(frozen=True, eq=False)
class Stack:
    """Parts of one kind and shape in one piece."""

    paths: tuple[Hashable, ...]
    kind: Kind
    dim: int | None  # of the whole, along which it grows
    whole: Tensor  # [N, B, ...]


def parts(memory: Memory, path: tuple[Hashable, ...] = ()) -> Iterator[Part]:
    """All that a memory holds, always in the same order."""
    for number, grown in enumerate(memory._grown or ()):
        assert grown.store is not None
        yield Part((*path, "grown", number), "grown", grown.dim, grown.store)
    for kind, value in (("kept", memory._kept), ("once", memory._once)):
        for number, tensor in enumerate(leaves(value)):
            yield Part((*path, kind, number), kind, None, tensor)  # type: ignore[arg-type]
    for name, room in memory._rooms.items():
        yield from parts(room, (*path, name))


def joined(memory: Memory) -> list[Stack]:
    """Tensors of zeros in place of all that a memory holds, those of one shape in one piece."""
    alike: dict[Hashable, list[Part]] = defaultdict(list)
    for part in parts(memory):
        alike[part.kind, part.dim, part.tensor.shape, part.tensor.dtype].append(part)
    stacks = []
    for group in alike.values():
        _, kind, dim, like = group[0]
        whole = like.new_zeros(len(group), *like.shape)
        dim = None if dim is None else dim + 1
        stacks.append(Stack(tuple(part.path for part in group), kind, dim, whole))
    pieces = {path: x for stack in stacks for path, x in zip(stack.paths, stack.whole, strict=True)}
    _settle(memory, pieces)
    return stacks


def _settle(
    memory: Memory, pieces: dict[Hashable, Tensor], path: tuple[Hashable, ...] = ()
) -> None:
    """Put the pieces where the parts of these paths are."""
    for number, grown in enumerate(memory._grown or ()):
        grown.store = pieces[(*path, "grown", number)]

    def placed(kind: Kind, value: Any) -> Any:
        mine = iter([pieces[(*path, kind, n)] for n in range(len(leaves(value)))])
        return mapped(lambda _: next(mine), value)

    memory._kept, memory._once = placed("kept", memory._kept), placed("once", memory._once)
    for name, room in memory._rooms.items():
        _settle(room, pieces, (*path, name))


def wholes(
    memory: Memory, has: Sequence[Stack], like: Sequence[Stack], length: int
) -> Iterator[Tensor]:
    """The first `length` tokens that a memory holds, stacked as others are; `has` are the stacks
    that are there already."""
    ready = {stack.paths: stack.whole for stack in has}
    apart = {part.path: part.tensor for part in parts(memory)}
    for stack in like:
        whole = ready.get(stack.paths)
        if whole is not None:
            yield whole if stack.dim is None else whole.narrow(stack.dim, 0, length)
            continue
        group = [apart[path] for path in stack.paths]
        if stack.dim is not None:
            group = [tensor.narrow(stack.dim - 1, 0, length) for tensor in group]
        yield torch.stack(group) if len(group) > 1 else group[0][None]


def outline(like: Tensor, *shape: int) -> Tensor:
    """A tensor that has a shape and takes no room, to be replaced."""
    return like.new_empty(()).expand(shape)


def leaves(value: Any) -> list[Tensor]:
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


def pour(value: Any, into: Any, rows: Tensor | None = None) -> None:
    """Copy every tensor of a state into its place in another of the same build: these rows of it,
    or all."""
    for tensor, place in zip(leaves(value), leaves(into), strict=True):
        if tensor is place:
            continue
        if rows is None:
            place.copy_(tensor)
        else:
            torch.index_select(tensor, 0, rows, out=place)

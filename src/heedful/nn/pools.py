"""What keys and values are made into before anyone looks at them: fewer, or joined.

A pool gives its keys a layout of their own, in which what was made of several tokens stands where
the last of them stands. So patterns serve pooled keys too, and the future does not leak: a query
that may look at a place may look at all that came before it.

B batch, L length, G heads of keys and values, E per head, W all their channels, M pooled keys.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError, nearest
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.memory import Memory

Heads = Float[Tensor, "B G _ E"]


class Pool(nn.Module, ABC):
    """Keys and values into others, and where those stand."""

    @abstractmethod
    def forward(
        self, k: Heads, v: Heads, at: Layout, memory: Memory
    ) -> tuple[Heads, Heads, Layout]:
        """All there is to look at so far, with the tokens at `at` as the newest."""


class Strided(Pool):
    """Every `size` tokens become one, by a convolution: memory-compressed attention.

    Liu et al., "Generating Wikipedia by Summarizing Long Sequences", ICLR 2018,
    https://arxiv.org/abs/1801.10198, section 4.2.3: kernel and stride are both 3 there. Tokens are
    counted in threes from the beginning of their own sequence. Those that are left over at its end
    become one too, which stands where it would end: a causal query does not see it, others do.
    """

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        if size < 1:
            raise UsageError(f"a strided pool joins 1 token or more, got {size}")
        self.size = size
        self.to_k = linear(size * width, width, bias=False)
        self.to_v = linear(size * width, width, bias=False)

    def forward(
        self, k: Heads, v: Heads, at: Layout, memory: Memory
    ) -> tuple[Heads, Heads, Layout]:
        heads, new = k.shape[1], groups(at, self.size, memory)
        x = rearrange([k, v], "n b g l e -> b l (n g e)")
        open_ = memory.recall(lambda: x.new_zeros(x.shape[0], self.size - 1, x.shape[2]))
        x = torch.cat([open_, x], 1)
        memory.keep(pick(x, new.newest))
        k, v = pick(F.pad(x, (0, 0, 0, 1)), new.places).chunk(2, -1)
        joined = rearrange(
            [
                to(rearrange(y, "b (m s) w -> b m (s w)", s=self.size))
                for to, y in ((self.to_k, k), (self.to_v, v))
            ],
            "n b m (g e) -> n b g m e",
            g=heads,
        )
        closed = memory.extend(*joined[:, :, :, :-1], dims=(2, 2))
        k, v = (torch.cat(pair, 2) for pair in zip(closed, joined[:, :, :, -1:], strict=True))
        return k, v, new.keys


@dataclass(frozen=True, eq=False)
class Groups:
    """Which tokens become one, in a pass: those left open by the pass before, then the new ones.

    In each row, the closed groups come first and the open one last: the one that the row's next
    token would join. Where there is none it is empty, like closed groups that other rows have more.
    """

    places: Int[Tensor, "B _"]  # which token stands where in its group; past the last for none
    newest: Int[Tensor, "B _"]  # which tokens the next pass begins with
    keys: Layout  # of all groups so far


def pick(x: Float[Tensor, "B _ W"], places: Int[Tensor, "B M"]) -> Float[Tensor, "B M W"]:
    """Row by row, the vectors at these places."""
    return x.gather(1, places[..., None].expand(-1, -1, x.shape[2]))


def groups(at: Layout, size: int, memory: Memory) -> Groups:
    """The groups of a pass, made once for all layers that ask."""
    house = memory.house
    key = ("groups", size, house)
    if key not in at.seen:
        at.seen[key] = _grouped(at, size, house["groups"][size])
    return at.seen[key]


def _grouped(at: Layout, size: int, memory: Memory) -> Groups:
    order, positions, segments = in_order(at, size - 1, memory)
    real, within = segments > 0, positions % size
    first = real & (real.cumsum(1) == 1)
    number = (real & ((within == 0) | first)).cumsum(1)  # of the token's group, from 1
    last = number[:, -1:]
    full = ((number == last) & real & (within == size - 1)).any(1, keepdim=True)
    closed = torch.where(full, last, (last - 1).clamp(min=0))
    # How many keys there will be is the one thing that the host must know. A traced graph cannot
    # ask, and makes room for the most there could be.
    count = positions.shape[1] if torch.compiler.is_compiling() else int(closed.max())
    group = torch.where(number > closed, count, number - 1)
    slots = (count + 1) * size
    place = torch.where(real, group * size + within, slots)
    places = _scattered(order, order.shape[1], place, slots)
    to = torch.where(real, group, count + 1)
    ends = _scattered(positions - within + size - 1, 0, to, count + 1)
    marks = _scattered(segments, 0, to, count + 1)
    before = memory.extend(ends[:, :-1], marks[:, :-1], dims=(1, 1))
    keys = Layout(torch.cat([before[0], ends[:, -1:]], 1), torch.cat([before[1], marks[:, -1:]], 1))
    newest = order.shape[1] - (size - 1)
    memory.keep((positions[:, newest:], (segments * (group == count))[:, newest:]))
    return Groups(places, order[:, newest:], keys)


def _scattered(values: Tensor, empty: int, to: Tensor, width: int) -> Tensor:
    """Each value where `to` says, of places 0 to width - 1; what goes to `width` is thrown away."""
    made = values.new_full((len(values), width + 1), empty)
    return made.scatter(1, to, values)[:, :-1]


def in_order(at: Layout, back: int, memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
    """The `back` tokens that were kept of the passes before and those of this one, by sequence.

    Gives, padding first: for each which it is (the earlier ones are 0 to back - 1, those of this
    pass come after), its position and its segment. In a row, a sequence need not lie in one piece:
    a source may have its padding between itself and its target.
    """
    none = at.positions.new_zeros(len(at.positions), back)
    earlier = memory.recall(lambda: (none, none))
    positions = torch.cat([earlier[0], at.positions], 1)
    segments = torch.cat([earlier[1], at.segments], 1)
    order = (segments * _FAR + positions).argsort(dim=1, stable=True)
    return order, positions.gather(1, order), segments.gather(1, order)


_FAR = 2**32  # beyond any position


class Areas(Pool):
    """Every area of up to `wide` neighbours is a key of its own: the mean of theirs, and the sum of
    their values.

    Li, Kaiser, Bengio and Si, "Area Attention", ICML 2019, https://arxiv.org/abs/1810.10126,
    section 3.1. With `high` over 1 the tokens are the pixels of a picture, row by row, each row of
    `row`, and an area is a rectangle. An area stands where its last token stands.
    """

    def __init__(self, width: int, wide: int, high: int = 1, row: int = 0) -> None:
        super().__init__()
        if wide < 1 or high < 1 or (high > 1 and row < wide):
            raise UsageError(
                "areas need WIDE and HIGH of 1 or more, and where HIGH is over 1 a ROW of WIDE or "
                f"more; got areas:{wide}:{high}:{row}"
            )
        self.wide, self.high, self.row = wide, high, row
        self.back = (high - 1) * row + wide - 1  # how far behind its last token an area begins

    def forward(
        self, k: Heads, v: Heads, at: Layout, memory: Memory
    ) -> tuple[Heads, Heads, Layout]:
        near = neighbours(at, self, memory)
        x = torch.stack([k, v], 1)
        earlier = memory.recall(lambda: x.new_zeros(*x.shape[:3], self.back, x.shape[4]))
        x = torch.cat([earlier, x], 3)
        x = x.gather(3, near.order[:, None, None, :, None].expand_as(x))
        memory.keep(x[:, :, :, x.shape[3] - self.back :])
        sums = torch.stack(self.sums(x, near.places), 3)
        k = rearrange(sums[:, 0] / near.sizes[:, None, None], "b g s l e -> b g (s l) e")
        v = rearrange(sums[:, 1], "b g s l e -> b g (s l) e")
        k, v = memory.extend(k, v, dims=(2, 2))
        return k, v, near.keys

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Height and width of each kind of area."""
        return [(a, b) for a in range(1, self.high + 1) for b in range(1, self.wide + 1)]

    def sums(self, x: Tensor, places: Tensor) -> list[Tensor]:
        """For each shape, the sums over the areas that end at each new token."""
        found: list[Tensor] = []
        for a in range(self.high):
            line: Tensor | None = None
            for b in range(self.wide):
                there = (places - a * self.row - b).clamp(min=0)[:, None, None, :, None]
                one = x.gather(3, there.expand(*x.shape[:3], -1, x.shape[4]))
                line = one if line is None else line + one
                found.append(line if a == 0 else found[-self.wide] + line)
        return found


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The tokens of a pass beside each other, the newest of the passes before among them."""

    order: Int[Tensor, "B _"]  # which token comes when
    places: Int[Tensor, "B L"]  # when each token of this pass comes
    sizes: Int[Tensor, " _"]  # how many tokens an area of each shape has
    keys: Layout  # of all areas so far


def neighbours(at: Layout, pool: Areas, memory: Memory) -> Neighbours:
    """The neighbours in a pass, made once for all layers that ask."""
    house, shape = memory.house, (pool.wide, pool.high, pool.row)
    key = ("areas", shape, house)
    if key not in at.seen:
        room = house["areas"][shape]
        order, positions, segments = in_order(at, pool.back, room)
        newest = order.shape[1] - pool.back
        room.keep((positions[:, newest:], segments[:, newest:]))
        line, place = 0 * at.positions, at.positions
        if pool.high > 1:
            line, place = at.positions // pool.row, at.positions % pool.row
        whole = [(line >= a - 1) & (place >= b - 1) for a, b in pool.shapes]
        positions, segments = room.extend(
            torch.cat([at.positions] * len(whole), 1),
            torch.cat([at.segments * fits for fits in whole], 1),
            dims=(1, 1),
        )
        sizes = torch.tensor([a * b for a, b in pool.shapes], device=order.device)
        places = order.argsort(1)[:, pool.back :]
        at.seen[key] = Neighbours(order, places, sizes, Layout(positions, segments))
    return at.seen[key]


POOLS: dict[str, Callable[..., Pool]] = {"strided": Strided, "areas": Areas}
WRITTEN = {"strided": "strided:SIZE", "areas": "areas:WIDE or areas:WIDE:HIGH:ROW"}


def parse_pool(text: str, width: int) -> Pool | None:
    """A pool as a setting writes it: `none`, `strided:3`, `areas:4`, `areas:3:3:32`."""
    if text == "none":
        return None
    name, *numbers = text.split(":")
    if name not in POOLS:
        raise UsageError(
            f"no attention pool named '{name}'.{nearest(name, POOLS)} "
            f"There are: none, {', '.join(WRITTEN.values())}"
        )
    try:
        return POOLS[name](width, *(int(number) for number in numbers))
    except (TypeError, ValueError):
        raise UsageError(f"cannot read attention pool '{text}'; it is {WRITTEN[name]}") from None

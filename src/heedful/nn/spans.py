"""Who may look at whom as spans: from one place of a row on, and up to another.

What packed rows come to where each sequence stands in one piece. B batch, Q queries, K keys.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from heedful.nn.layout import Layout
from heedful.nn.patterns import InBlocks, Near, Pattern, terms

Window = Near | InBlocks  # patterns that leave of a sequence one piece for each token

_FAR = 2**32  # beyond any position
_NONE = 2**30  # beyond any number of a sequence


@dataclass(frozen=True, eq=False)
class Spans:
    """Which keys each query sees, and by which queries each key is seen; padding sees nothing, and
    nobody sees it.

    Of several patterns it is what all allow, except that a causal one ends at oneself. `order` says
    which token comes when, where a sequence does not stand in one piece, and `back` undoes it.
    """

    seen: Int[Tensor, "B Q 2"]
    seen_by: Int[Tensor, "B K 2"]
    order: Int[Tensor, "B Q"] | None = None
    back: Int[Tensor, "B Q"] | None = None


def in_one_piece(at: Layout) -> bool:
    """Whether it is known that all sequences stand in one piece, in turn, and padding last."""
    return at.filling in ("full", "padded", "in_turn")


def spans(pattern: Pattern, q: Layout, k: Layout) -> Spans:
    """The spans of a pattern. Positions in a sequence count up by one. Queries and keys that are
    not the same must stand in one piece, and have no windows."""
    order = None
    position, numbers = q.positions, _numbers(q)
    if q is k and not in_one_piece(q):
        # A row may hold a sequence in two pieces: packed sources, then their targets.
        order = (numbers * _FAR + position).argsort(dim=1, stable=True)
        position, numbers = position.gather(1, order), numbers.gather(1, order)
    others = numbers if q is k else _numbers(k)
    seen, seen_by = _alike(numbers, others), _alike(others, numbers)
    here = torch.arange(position.shape[1], device=position.device).expand_as(position)
    for window in (term for term in terms(pattern) if isinstance(term, Window)):
        sees, is_seen = _within(window, position)
        seen, seen_by = _meet(seen, sees, here - position), _meet(seen_by, is_seen, here - position)
    back = None if order is None else order.argsort(dim=1)
    return Spans(_places(seen, numbers, others), _places(seen_by, others, numbers), order, back)


Ends = tuple[Tensor, Tensor]


def _numbers(at: Layout) -> Tensor:
    """The numbers of the sequences, padding's the highest."""
    return at.segments.masked_fill(~at.real, _NONE).contiguous()


def _alike(numbers: Tensor, others: Tensor) -> Ends:
    """Where of the others, which are in turn, those of the same number begin and end."""
    return (
        torch.searchsorted(others, numbers),
        torch.searchsorted(others, numbers, right=True),
    )


def _within(window: Window, position: Tensor) -> tuple[Ends, Ends]:
    """The positions that each position sees in a window, and those that it is seen by."""
    if isinstance(window, Near):
        return (
            (position - window.back, position + window.ahead + 1),
            (position - window.ahead, position + window.back + 1),
        )
    block = position // window.size * window.size
    far = window.back * window.size
    return (block - far, block + window.size), (block, block + far + window.size)


def _meet(one: Ends, other: Ends, first: Tensor) -> Ends:
    """What two spans have in common; the other is of positions, the first of which is there."""
    return torch.maximum(one[0], other[0] + first), torch.minimum(one[1], other[1] + first)


def _places(ends: Ends, numbers: Tensor, others: Tensor) -> Int[Tensor, "B Q 2"]:
    """Padding's span begins after it ends, so that it widens no one else's."""
    real = numbers < _NONE
    start = torch.where(real, ends[0], others.shape[1])
    return torch.stack([start, torch.where(real, ends[1], 0)], 2).to(torch.int32)

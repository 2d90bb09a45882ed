"""Attention with vectors by distance on the keys, through a kernel of our own in Triton.

Scores by distance are made inside each tile, so that neither a matrix of all pairs nor a vector for
every pair is ever held: memory grows with the length. B batch, H heads, G heads of keys and values,
L length, E per head.
"""

import importlib.util
import os
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.nn.kernels.blocks import missing
from heedful.nn.kernels.dense import shared
from heedful.nn.layout import Layout
from heedful.nn.once import once
from heedful.nn.patterns import Both, Causal, Full, InBlocks, Near, Pattern, Visible
from heedful.nn.relative import Relative
from heedful.nn.sight import Sight

RELATIVE_KERNEL = "relative"
NARROWEST, WIDEST = 32, 128  # channels of a head
DTYPES = (torch.float32, torch.bfloat16)
_FAR = 2**32  # beyond any position

Window = Near | InBlocks  # patterns that leave of a sequence one piece for each token


def relative(
    q: Float[Tensor, "B H L E"],
    k: Float[Tensor, "B G L E"],
    v: Float[Tensor, "B G L E"],
    sight: Sight,
    bias: Relative,
) -> Float[Tensor, "B H L E"]:
    """softmax((QKᵀ + QRᵀ)/√E)V, where R holds the vector of each pair's distance."""
    from heedful.nn.kernels.relative_op import attend

    k, v = shared(k, q.shape[1]), shared(v, q.shape[1])
    if torch.is_autocast_enabled(q.device.type):
        dtype = torch.get_autocast_dtype(q.device.type)
        q, k, v = (x.to(dtype) for x in (q, k, v))
    rows = bias.keys(q.dtype)
    reach, found = bias.reach, spans(sight.q, sight.pattern)
    if found.order is not None:
        q, k, v = (along(x, found.order) for x in (q, k, v))
    causal = Causal() in terms(sight.pattern)
    out = attend(q, k, v, rows, found.seen, found.seen_by, reach.back, reach.clipped, causal)
    return out if found.back is None else along(out, found.back)


def refusal(q: Tensor, sight: Sight, bias: Relative, dropout: float) -> str:
    """Why the kernel cannot do this, in words; nothing where it can."""
    if bias.values is not None:
        return "has no vectors for values: it can shaw_keys and skew"
    if dropout:
        return f"has no dropout of weights, and attention_dropout is {dropout}"
    if sight.q is not sight.k:
        return "computes whole rows only, and these queries have other keys (a step, or a pool)"
    others = [
        term
        for term in terms(sight.pattern)
        if term not in (Visible(), Full(), Causal()) and not isinstance(term, Window)
    ]
    if others:
        return f"has no pattern {others[0]}"
    if not NARROWEST <= q.shape[3] <= WIDEST:
        return f"takes heads of {NARROWEST} to {WIDEST} channels, and these have {q.shape[3]}"
    if q.dtype not in DTYPES:
        return f"computes in float32 and bfloat16, and this is {q.dtype}"
    return nowhere(q.device.type)


@once
def nowhere(device: str) -> str:
    """Why it cannot be run on this kind of device; nothing where it can."""
    if importlib.util.find_spec("triton") is None:
        return "needs Triton, which is not installed"
    if os.environ.get("TRITON_INTERPRET") == "1":
        return ""
    if device != "cuda":
        return f"needs a GPU, and this is a {device}"
    why = missing()
    return f"cannot be compiled here: {why}" if why else ""


def terms(pattern: Pattern) -> list[Pattern]:
    """The patterns that one is joined of."""
    if isinstance(pattern, Both):
        return terms(pattern.one) + terms(pattern.other)
    return [pattern]


@dataclass(frozen=True, eq=False)
class Spans:
    """Which tokens of its row each one sees, and by which it is seen, as [B, L, 2]: from one place
    on, and up to another; all of a sequence in one piece.

    Padding sees nothing. Of several patterns it is what all allow; that a causal one ends at
    oneself is left to the kernel. `order` says which token comes when, `back` undoes it; None where
    they stand so already.
    """

    seen: Int[Tensor, "B L 2"]
    seen_by: Int[Tensor, "B L 2"]
    order: Int[Tensor, "B L"] | None = None
    back: Int[Tensor, "B L"] | None = None


def spans(at: Layout, pattern: Pattern) -> Spans:
    """The spans of a layout, made once a pass. Positions in a sequence count up by one."""
    windows = tuple(term for term in terms(pattern) if isinstance(term, Window))
    key = ("spans", windows)
    if key not in at.seen:
        at.seen[key] = _spans(at, windows)
    found: Spans = at.seen[key]
    return found


def _spans(at: Layout, windows: tuple[Window, ...]) -> Spans:
    here = torch.arange(at.segments.shape[1], device=at.segments.device).expand_as(at.segments)
    position, order = at.positions, None
    if at.filling in ("full", "padded"):
        real = at.real
        start, end = torch.zeros_like(here), real.sum(1, keepdim=True).expand_as(here)
    else:
        # A row may hold a sequence in two pieces: packed sources, then their targets.
        order = (at.segments * _FAR + at.positions).argsort(dim=1, stable=True)
        position, sorted_ = position.gather(1, order), at.segments.gather(1, order)
        real = sorted_ > 0
        start = torch.searchsorted(sorted_, sorted_)
        end = torch.searchsorted(sorted_, sorted_, right=True)
    seen, seen_by = (start, end), (start, end)
    for window in windows:
        sees, is_seen = _within(window, position)
        seen, seen_by = _meet(seen, sees, here - position), _meet(seen_by, is_seen, here - position)
    back = None if order is None else order.argsort(dim=1)
    return Spans(_places(seen, real, here), _places(seen_by, real, here), order, back)


Ends = tuple[Tensor, Tensor]


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


def _places(ends: Ends, real: Tensor, here: Tensor) -> Int[Tensor, "B L 2"]:
    return torch.stack([torch.where(real, x, here) for x in ends], 2).to(torch.int32)


def along(x: Float[Tensor, "B H L E"], order: Int[Tensor, "B L"]) -> Float[Tensor, "B H L E"]:
    """The same tokens in another order, row by row."""
    return x.gather(2, order[:, None, :, None].expand_as(x))

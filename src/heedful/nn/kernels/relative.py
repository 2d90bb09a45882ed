"""Attention with vectors by distance on the keys, through a kernel of our own in Triton.

Scores by distance are made inside each tile, so that neither a matrix of all pairs nor a vector for
every pair is ever held: memory grows with the length. B batch, H heads, G heads of keys and values,
L length, E per head.
"""

import importlib.util
import os

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.nn.kernels.blocks import missing
from heedful.nn.kernels.dense import shared
from heedful.nn.once import once
from heedful.nn.patterns import Causal, Full, Visible, terms
from heedful.nn.relative import Relative
from heedful.nn.sight import Sight
from heedful.nn.spans import Window

RELATIVE_KERNEL = "relative"
NARROWEST, WIDEST = 32, 128  # channels of a head
DTYPES = (torch.float32, torch.bfloat16)


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
    reach, found = bias.reach, sight.spans
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


def along(x: Float[Tensor, "B H L E"], order: Int[Tensor, "B L"]) -> Float[Tensor, "B H L E"]:
    """The same tokens in another order, row by row."""
    return x.gather(2, order[:, None, :, None].expand_as(x))

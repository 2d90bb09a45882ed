"""Attention through a kernel of our own in Triton, for rows of short sequences.

Each query sees one span of its row: only tiles that have some of it are computed, and they are as
small as sentences are. B batch, H heads, G heads of keys and values, Q queries, K keys, E per head.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import UsageError
from heedful.nn.kernels.dense import shared
from heedful.nn.kernels.relative import nowhere
from heedful.nn.patterns import Causal, Full, Visible, terms
from heedful.nn.sight import Sight
from heedful.nn.spans import Window, in_one_piece

SPANS_KERNEL = "spans"
NARROWEST, WIDEST = 16, 128  # channels of a head
DTYPES = (torch.float32, torch.bfloat16)


def spanned(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B G K E"],
    v: Float[Tensor, "B G K E"],
    sight: Sight,
    bias: Float[Tensor, "#B #H Q K"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H Q E"]:
    why = refusal(q, sight, bias, dropout)
    if why:
        raise UsageError(f"attention kernel '{SPANS_KERNEL}' {why}. Use kernel=auto")
    heads = q.shape[1]
    return together([q, shared(k, heads), shared(v, heads)], heads, sight)


def together(sides: list[Tensor], heads: int, sight: Sight) -> Float[Tensor, "B H Q E"]:
    """The same of queries, keys and values as they were projected: some of them in one tensor, one
    after the other, so many heads of each."""
    from heedful.nn.kernels.spans_op import attend

    device = sides[0].device.type
    if torch.is_autocast_enabled(device):
        sides = [x.to(torch.get_autocast_dtype(device)) for x in sides]
    spans, causal = sight.spans, Causal() in terms(sight.pattern)
    return attend(sides, heads, spans.seen, spans.seen_by, causal)


def refusal(q: Tensor, sight: Sight, bias: Tensor | None, dropout: float) -> str:
    """Why the kernel cannot do this, in words; nothing where it can."""
    if bias is not None:
        return "has no bias"
    if dropout:
        return f"has no dropout of weights, and attention_dropout is {dropout}"
    own = sight.q is sight.k
    for term in terms(sight.pattern):
        if term not in (Visible(), Full()) and not (own and isinstance(term, Causal | Window)):
            return f"has no pattern {term}" if own else f"has no pattern {term} across rows"
    if not (in_one_piece(sight.q) and in_one_piece(sight.k)):
        return "wants every sequence of a row in one piece, and that is not known of these"
    if not NARROWEST <= q.shape[3] <= WIDEST:
        return f"takes heads of {NARROWEST} to {WIDEST} channels, and these have {q.shape[3]}"
    if q.dtype not in DTYPES:
        return f"computes in float32 and bfloat16, and this is {q.dtype}"
    return nowhere(q.device.type)

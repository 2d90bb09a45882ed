"""Attention as it is defined, every weight written out: the reference the fast kernels are held to.

B batch, H heads, G heads of keys and values, Q queries, K keys, E per head.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from heedful.nn.sight import Sight


def weights(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B G K E"],
    sight: Sight,
    bias: Float[Tensor, "#B #H Q K"] | None = None,
) -> Float[Tensor, "B H Q K"]:
    """softmax(QKᵀ/√E + bias) over what may be seen; a query that may see nothing gets zeros."""
    scores = (q * q.shape[-1] ** -0.5) @ shared(k, q.shape[1]).transpose(-1, -2)
    if bias is not None:
        scores = scores + bias
    if sight.clear:
        return scores.softmax(-1)
    highest = scores.masked_fill(sight.hidden, torch.finfo(scores.dtype).min)
    return highest.softmax(-1).masked_fill(sight.hidden, 0.0)


def dense(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B G K E"],
    v: Float[Tensor, "B G K E"],
    sight: Sight,
    bias: Float[Tensor, "#B #H Q K"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H Q E"]:
    return F.dropout(weights(q, k, sight, bias), dropout) @ shared(v, q.shape[1])


def shared(x: Float[Tensor, "B G K E"], heads: int) -> Float[Tensor, "B H K E"]:
    """Keys or values of few heads, lent to many queries' heads."""
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], 1)

"""Attention of few queries on a CPU, where nobody learns: a step of decoding.

As `dense` defines it. What PyTorch's products and its softmax do with a dozen keys takes longer
than multiplying and adding up plainly, and where all is small, what takes longest is to start
operations: then its own attention is one in place of three. B batch, H heads, G heads of keys and
values, Q queries, K keys, E per head.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from heedful.nn.kernels.dense import dense, shared
from heedful.nn.sight import Sight

TINY = 400  # products of one pair of matrices, below which PyTorch has no library multiply them
SHORT = 16  # keys, below which PyTorch's softmax takes one number at a time
HEADS = 128  # of all rows, up to which one operation is the fastest for a query each


def few(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B G K E"],
    v: Float[Tensor, "B G K E"],
    sight: Sight,
    bias: Float[Tensor, "#B #H Q K"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H Q E"]:
    if dropout or torch.is_grad_enabled() or k.shape[2] == 0:
        return dense(q, k, v, sight, bias, dropout)
    k, v = shared(k, q.shape[1]), shared(v, q.shape[1])
    alone = q.shape[2] == 1
    if alone and len(q) * q.shape[1] <= HEADS and bias is None and q.dtype is torch.float32:
        if sight.clear:
            return F.scaled_dot_product_attention(q, k, v)
        if not sight.blind:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=sight.shade)
    q = q * q.shape[3] ** -0.5
    plainly = alone and k.shape[2] * k.shape[3] < TINY
    scores = (q * k).sum(-1)[:, :, None] if plainly else _products(q, k.transpose(-1, -2))
    if bias is not None:
        scores = scores + bias
    shares = _over_seen(scores, sight)
    return (shares.transpose(-1, -2) * v).sum(2, keepdim=True) if plainly else _products(shares, v)


def _products(a: Float[Tensor, "B H Q E"], b: Float[Tensor, "B H E K"]) -> Float[Tensor, "B H Q K"]:
    """a @ b, without all that `@` asks of the shapes."""
    rows = a.shape[0] * a.shape[1]
    flat = a.reshape(rows, *a.shape[2:]), b.reshape(rows, *b.shape[2:])
    return torch.bmm(*flat).view(*a.shape[:3], b.shape[3])


def _over_seen(scores: Float[Tensor, "B H Q K"], sight: Sight) -> Float[Tensor, "B H Q K"]:
    """The softmax over what may be seen, of scores that nobody else needs."""
    if sight.clear:
        return _softmax(scores)
    shares = _softmax(scores.masked_fill_(sight.hidden, torch.finfo(scores.dtype).min))
    return shares.masked_fill_(sight.hidden, 0.0) if sight.blind else shares


def _softmax(scores: Float[Tensor, "B H Q K"]) -> Float[Tensor, "B H Q K"]:
    if scores.shape[-1] >= SHORT:
        return scores.softmax(-1)
    powers = scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    return powers.div_(powers.sum(-1, keepdim=True))

"""Relative attention as it is defined, a vector for every pair written out: O(L²·E) memory.

What the ways without such copies are held to. Shaw, Uszkoreit and Vaswani, "Self-Attention with
Relative Position Representations", NAACL 2018, https://arxiv.org/abs/1803.02155, eqs. 3 and 4.
B batch, H heads, Q queries, K keys, E per head.
"""

from jaxtyping import Bool, Float
from torch import Tensor

Vectors = Float[Tensor, "B H Q K E"]


def scores(
    q: Float[Tensor, "B H Q E"], k: Float[Tensor, "B H K E"], on_keys: Vectors
) -> Float[Tensor, "B H Q K"]:
    """Each query by each key and the vector between them, over √E."""
    met = k[:, :, None] + on_keys
    return (q[:, :, :, None] * met).sum(-1) / q.shape[-1] ** 0.5


def attend(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B H K E"],
    v: Float[Tensor, "B H K E"],
    seen: Bool[Tensor, "B 1 Q K"],
    on_keys: Vectors,
    on_values: Vectors | None = None,
) -> Float[Tensor, "B H Q E"]:
    """What each query reads; one that sees nothing reads zeros."""
    hidden = ~seen
    highest = scores(q, k, on_keys).masked_fill(hidden, -1e30)
    weights = highest.softmax(-1).masked_fill(hidden, 0.0)
    told = v[:, :, None] if on_values is None else v[:, :, None] + on_values
    return (weights[..., None] * told).sum(-2)

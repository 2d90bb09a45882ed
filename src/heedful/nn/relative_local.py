"""Relative attention in blocks: each looks at itself and the one before, by two skews.

Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281, section 3.5. Memory
grows with the length and not with its square. The same as the pattern `in_blocks:SIZE` with the
bias `skew`, of a line without padding. B batch, H heads, L length, E per head.
"""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.skewing import skew, skew_causal


def attend_local(
    q: Float[Tensor, "B H L E"],
    k: Float[Tensor, "B H L E"],
    v: Float[Tensor, "B H L E"],
    rows: Float[Tensor, "H R E"],
    size: int,
) -> Float[Tensor, "B H L E"]:
    """Causal; `rows` are the vectors of distances -(2·size - 1) to 0, the farthest first."""
    length = q.shape[2]
    if rows.shape[1] != 2 * size:
        raise UsageError(
            f"blocks of {size} that see the one before reach {2 * size} distances, "
            f"and there are vectors for {rows.shape[1]}. Use skew:{2 * size}"
        )
    short = -length % size
    q, k, v = (
        rearrange(F.pad(x, (0, 0, 0, short)), "b h (n l) e -> b h n l e", l=size)
        for x in (q * q.shape[-1] ** -0.5, k, v)
    )
    before_k, before_v = (F.pad(x, (0, 0, 0, 0, 1, 0))[:, :, :-1] for x in (k, v))
    far, near = (part[:, None].transpose(-1, -2) for part in (rows[:, :-1], rows[:, size:]))
    behind = q @ before_k.transpose(-1, -2) + skew(q @ far)
    own = q @ k.transpose(-1, -2) + skew_causal(q @ near)
    ahead = torch.ones(size, size, dtype=torch.bool, device=q.device).triu(1)
    own = own.masked_fill(ahead, float("-inf"))
    first = torch.arange(q.shape[2], device=q.device)[:, None, None] == 0
    behind = behind.masked_fill(first, float("-inf"))
    weights = torch.cat([behind, own], -1).softmax(-1)
    out = weights @ torch.cat([before_v, v], -2)
    return rearrange(out, "b h n l e -> b h (n l) e")[:, :, :length]

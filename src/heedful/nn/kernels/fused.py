"""Attention through PyTorch's fused kernels: never slower to write, often faster to run.

B batch, H heads, G heads of keys and values, Q queries, K keys, E per head.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from heedful.nn.kernels.dense import shared
from heedful.nn.sight import Sight


def fused(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B G K E"],
    v: Float[Tensor, "B G K E"],
    sight: Sight,
    bias: Float[Tensor, "#B #H Q K"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H Q E"]:
    # In bf16 on a GPU, a row of the mask with nothing in it gives garbage, and gradients that are
    # not numbers (seen with torch 2.11 on an H200). So no row is left empty.
    mask, blind = sight.filled
    if bias is not None:
        mask = bias.masked_fill(~mask, float("-inf")).to(q.dtype)
    k, v = shared(k, q.shape[1]), shared(v, q.shape[1])
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    return out.masked_fill(blind, 0.0)

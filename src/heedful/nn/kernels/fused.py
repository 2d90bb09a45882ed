"""Attention through PyTorch's fused kernels: never slower to write, often faster to run.

B batch, H heads, G heads of keys and values, Q queries, K keys, E per head.
"""

from contextlib import nullcontext

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from heedful.nn.kernels.dense import shared
from heedful.nn.sight import Sight

# All but cuDNN's, which plans anew for every shape: up to seconds, where text has many shapes.
ANY_SHAPE = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


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
    with sdpa_kernel(ANY_SHAPE) if q.is_cuda else nullcontext():
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    return out.masked_fill(blind, 0.0)

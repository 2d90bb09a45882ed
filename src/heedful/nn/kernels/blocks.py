"""Attention through FlexAttention: whole blocks that nobody may see are never computed.

What packed rows want on a GPU. B batch, H heads, G heads of keys and values, Q queries, K keys,
E per head.
"""

import importlib.util
import warnings
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import UsageError
from heedful.nn.kernels.dense import shared
from heedful.nn.once import once
from heedful.nn.sight import Sight

OLDEST = 7  # compute capability that Triton compiles for
DTYPES = (torch.float32, torch.bfloat16)  # that our own kernels compute in


def blocks(
    q: Float[Tensor, "B H Q E"],
    k: Float[Tensor, "B G K E"],
    v: Float[Tensor, "B G K E"],
    sight: Sight,
    bias: Float[Tensor, "#B #H Q K"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "B H Q E"]:
    from torch.nn.attention.flex_attention import flex_attention  # it brings the compiler along

    if dropout:
        raise UsageError("kernel 'blocks' has no dropout of weights; 'fused' and 'dense' have")
    if q.device.type == "cpu" and q.requires_grad and torch.is_grad_enabled():
        raise UsageError("kernel 'blocks' does not train on a CPU; 'fused' does")

    score = None
    if bias is not None:
        added = bias.expand(len(q), q.shape[1], -1, -1)
        score = lambda s, b, h, i, j: s + added[b, h, i, j]  # noqa: E731
    pair = shared(k, q.shape[1]), shared(v, q.shape[1])
    if q.is_cuda:
        attend = flex_attention if torch.compiler.is_compiling() else _compiled()
        return attend(q, *pair, score_mod=score, block_mask=sight.blocks)
    with warnings.catch_warnings():  # that it is slow uncompiled: on a CPU it is a reference
        warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
        return flex_attention(q, *pair, score_mod=score, block_mask=sight.blocks)


@once
def missing() -> str:
    """Why it cannot be compiled for the GPU here; nothing where it can."""
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed"
    major, minor = torch.cuda.get_device_capability()
    if major < OLDEST:
        return f"this GPU is too old for Triton (compute capability {major}.{minor})"
    return ""


def suits_kernels(x: Tensor) -> bool:
    """Whether kernels of our own in Triton can take such a tensor, where it is."""
    return x.is_cuda and x.dtype in DTYPES and not missing()


@cache
def _compiled() -> Any:
    """FlexAttention is only fast when compiled; one compiled copy serves every layer."""
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, dynamic=False)

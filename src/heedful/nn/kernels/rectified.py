"""A feed-forward part in fewer passes, for a GPU: the rectifier comes with the product before it,
and the rectifier's gradient with the product that leads back to it.

What a compiler makes of them writes the product, then reads it to rectify it, and keeps beside it
which numbers were below zero. Here what is above zero tells. N tokens, D model, F inner.
"""

import math
from collections.abc import Sequence
from typing import Any, no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.utils.flop_counter import register_flop_formula
from triton.tools.tensor_descriptor import TensorDescriptor

from heedful.nn.kernels.tiles import product as of_tiles
from heedful.nn.kernels.ways import product
from heedful.nn.once import once

SIDE = 128  # of a tile of the result
DEEP = 64  # channels at a time
GROUP = 8  # tiles above each other that are computed together, to read the same weights
HOPPER = 9  # compute capability of the first GPUs that copy tiles by themselves


@triton.jit
@no_type_check
def _rectified_slopes(
    dy_tiles, weight_tiles, inner_ptr, slope_ptr, sum_ptr, rows,
    DIM: tl.constexpr, INNER: tl.constexpr,
    SIDE: tl.constexpr, DEEP: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A tile of dy·weight where `inner` is above zero, and the sum of its rows.

    What is multiplied is copied by tiles, not by pointers: between such copies and the products
    that read them Triton 3.6 puts no fence, and they may multiply what is not there yet
    (triton-lang/triton#10537).
    """
    program, across = tl.program_id(0), INNER // SIDE
    group = program // (GROUP * across) * GROUP
    high = min(tl.cdiv(rows, SIDE) - group, GROUP)
    below, beside = (
        group + program % (GROUP * across) % high,
        program % (GROUP * across) // high,
    )
    total = tl.zeros([SIDE, SIDE], tl.float32)
    for deep in range(0, DIM, DEEP):
        dy, weight = (
            dy_tiles.load([below * SIDE, deep]),
            weight_tiles.load([deep, beside * SIDE]),
        )
        total += of_tiles(dy, weight, "tf32")
    row, column = below * SIDE + tl.arange(0, SIDE), beside * SIDE + tl.arange(0, SIDE)
    place, there = row[:, None].to(tl.int64) * INNER + column[None, :], (row < rows)[:, None]
    slope = tl.where(tl.load(inner_ptr + place, mask=there, other=0.0) > 0, total, 0.0)
    tl.store(slope_ptr + place, slope.to(slope_ptr.dtype.element_ty), mask=there)
    tl.store(sum_ptr + below * INNER + column, tl.sum(slope, 0))


@torch.library.custom_op("heedful::rectified_slopes", mutates_args=())
def rectified_slopes(dy: Tensor, weight: Tensor, inner: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient before the rectifier, [N, F], of dy [N, D] through a weight [D, F], and its sums
    over some rows at a time. `inner` is what the rectifier gave."""
    slope, sums = _rooms(dy, weight, inner)
    _rectified_slopes[(len(sums) * (inner.shape[1] // SIDE),)](
        TensorDescriptor.from_tensor(dy, [SIDE, DEEP]),
        TensorDescriptor.from_tensor(weight, [DEEP, SIDE]),
        inner, slope, sums, len(dy),
        DIM=dy.shape[1], INNER=inner.shape[1], SIDE=SIDE, DEEP=DEEP, GROUP=GROUP,
        num_warps=4, num_stages=3,
    )  # fmt: skip
    return slope, sums


@rectified_slopes.register_fake
def _rooms(dy: Tensor, weight: Tensor, inner: Tensor) -> tuple[Tensor, Tensor]:
    high = -(-dy.shape[0] // SIDE)
    sums = inner.new_empty(high, inner.shape[1], dtype=torch.float32)
    return torch.empty_like(inner), sums


@register_flop_formula(torch.ops.heedful.rectified_slopes)
def _operations(dy: Sequence[int], weight: Sequence[int], *_: Any, **__: Any) -> int:
    """For those who count."""
    return 2 * math.prod(dy) * weight[1]


def fits(dim: int, inner: int, dtype: torch.dtype) -> bool:
    """Whether these sizes are whole tiles, in the precision they are for."""
    return dim % DEEP == 0 and inner % SIDE == 0 and dtype == torch.bfloat16


@once
def copies_tiles() -> bool:
    """Whether the GPU here does so by itself."""
    return torch.cuda.get_device_capability()[0] >= HOPPER


class FedForward(torch.autograd.Function):
    """max(0, xW₁ᵀ + b₁)W₂ᵀ + b₂, of x [N, D]."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, outer: Tensor, outer_bias: Tensor
    ) -> Tensor:
        inner = product(x, weight.t(), bias, rectifies=True)
        ctx.save_for_backward(x, weight, outer, inner)
        return product(inner, outer.t(), outer_bias)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        x, weight, outer, inner = ctx.saved_tensors
        dy = dy.contiguous()
        slope, sums = rectified_slopes(dy, outer, inner)
        return (
            product(slope, weight),
            product(slope.t(), x),
            sums.sum(0).to(dy.dtype),
            product(dy.t(), inner),
            dy.sum(0),
        )

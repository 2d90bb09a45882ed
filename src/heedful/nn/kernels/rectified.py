"""A feed-forward part in fewer passes, for a GPU: the rectifier comes with the product before it,
and the rectifier's gradient with the product that leads back to it.

What a compiler makes of them writes the product, then reads it to rectify it, and keeps beside it
which numbers were below zero. Here what is above zero tells. N tokens, D model, F inner.
"""

from typing import Any, no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

from heedful.nn.kernels import products
from heedful.nn.kernels.tiles import product  # by this name: compilers write kernels down anew

SIDE = 128  # of a tile of the result
DEEP = 64  # channels at a time
GROUP = 8  # tiles above each other that are computed together, to read the same weights


@torch.library.custom_op("heedful::rectified", mutates_args=())
def rectified(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """max(0, x·weightᵀ + bias), [N, F], of x [N, D] and a weight [F, D]."""
    return torch._addmm_activation(bias, x, weight.t())


@rectified.register_fake
def _shape(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x.new_empty(len(x), len(weight))


@triton.jit
@no_type_check
def _rectified_slopes(
    dy_ptr, weight_ptr, inner_ptr, slope_ptr, sum_ptr, rows,
    DIM: tl.constexpr, INNER: tl.constexpr, EVEN: tl.constexpr,
    SIDE: tl.constexpr, DEEP: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A tile of dy·weight where `inner` is above zero, and the sum of its rows. Where the rows are
    `EVEN`, they make whole tiles."""
    program, across = tl.program_id(0), INNER // SIDE
    group = program // (GROUP * across) * GROUP
    high = min(tl.cdiv(rows, SIDE) - group, GROUP)
    below, beside = (
        group + program % (GROUP * across) % high,
        program % (GROUP * across) // high,
    )
    row, column = below * SIDE + tl.arange(0, SIDE), beside * SIDE + tl.arange(0, SIDE)
    deep = tl.arange(0, DEEP)
    from_row = row if EVEN else row % rows  # what is beyond is not used
    dy_ptr += from_row[:, None].to(tl.int64) * DIM + deep[None, :]
    weight_ptr += deep[:, None] * INNER + column[None, :]
    total = tl.zeros([SIDE, SIDE], tl.float32)
    for _ in range(0, DIM, DEEP):
        total += product(tl.load(dy_ptr), tl.load(weight_ptr), "tf32")
        dy_ptr += DEEP
        weight_ptr += DEEP * INNER
    place = row[:, None].to(tl.int64) * INNER + column[None, :]
    if EVEN:
        slope = tl.where(tl.load(inner_ptr + place) > 0, total, 0.0)
        tl.store(slope_ptr + place, slope.to(slope_ptr.dtype.element_ty))
    else:
        there = (row < rows)[:, None]
        slope = tl.where(tl.load(inner_ptr + place, mask=there, other=0.0) > 0, total, 0.0)
        tl.store(slope_ptr + place, slope.to(slope_ptr.dtype.element_ty), mask=there)
    tl.store(sum_ptr + below * INNER + column, tl.sum(slope, 0))


@torch.library.triton_op("heedful::rectified_slopes", mutates_args={})
def rectified_slopes(dy: Tensor, weight: Tensor, inner: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient before the rectifier, [N, F], of dy [N, D] through a weight [D, F], and its sums
    over some rows at a time. `inner` is what the rectifier gave."""
    (rows, dim), columns = dy.shape, inner.shape[1]
    slope = torch.empty_like(inner)
    high = triton.cdiv(rows, SIDE)
    sums = torch.empty(high, columns, dtype=torch.float32, device=dy.device)
    torch.library.wrap_triton(_rectified_slopes)[(high * (columns // SIDE),)](
        dy, weight, inner, slope, sums, rows,
        DIM=dim, INNER=columns, EVEN=bool(rows % SIDE == 0),
        SIDE=SIDE, DEEP=DEEP, GROUP=GROUP, num_warps=4, num_stages=3,
    )  # fmt: skip
    return slope, sums


def fits(dim: int, inner: int, dtype: torch.dtype) -> bool:
    """Whether these sizes are whole tiles, in the precision they are for."""
    return dim % DEEP == 0 and inner % SIDE == 0 and dtype == torch.bfloat16


class FedForward(torch.autograd.Function):
    """max(0, xW₁ᵀ + b₁)W₂ᵀ + b₂, of x [N, D]."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, outer: Tensor, outer_bias: Tensor
    ) -> Tensor:
        inner = rectified(x, weight, bias)
        ctx.save_for_backward(x, weight, outer, inner)
        return torch.addmm(outer_bias, inner, outer.t())

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        x, weight, outer, inner = ctx.saved_tensors
        dy = dy.contiguous()
        slope, sums = rectified_slopes(dy, outer, inner)
        bias = sums.sum(0).to(dy.dtype)
        return (
            products.product(slope, weight),
            products.product(slope.t(), x),
            bias,
            products.product(dy.t(), inner),
            dy.sum(0),
        )

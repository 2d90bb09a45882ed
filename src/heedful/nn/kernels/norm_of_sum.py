"""A sum and its layer norm in one pass over its rows, for a GPU: x + y, where some of y is
forgotten. N rows, D model.

Numbers with a point are constants of the kernels here: what is passed comes in double precision
from a compiled graph, and would be computed in.
"""

from typing import no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

from heedful.nn.kernels.forgetting import share, stays

TILE = 2_048  # numbers of a tensor that a program holds
NARROWEST = 4  # columns: what one draw of chance decides on
WARPS = 4


@triton.jit
@no_type_check
def _norm_of_sum(
    x_ptr, y_ptr, seed_ptr, weight_ptr, bias_ptr, sum_ptr, out_ptr, mean_ptr, scale_ptr,
    rows, DIM: tl.constexpr, EPSILON: tl.constexpr, FORGOTTEN: tl.constexpr, TIMES: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The sum is rounded as it is kept; its norm is computed of that, in float32."""
    row, column = (
        tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None],
        tl.arange(0, COLUMNS)[None, :],
    )
    there, inside = row < rows, column < DIM
    place, mask = row.to(tl.int64) * DIM + column, there & inside
    x = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + place, mask=mask, other=0.0).to(tl.float32)
    if FORGOTTEN:
        y = tl.where(stays(tl.load(seed_ptr), row, FORGOTTEN, ROWS, COLUMNS), y * TIMES, 0.0)
    x = (x + y).to(sum_ptr.dtype.element_ty)
    tl.store(sum_ptr + place, x, mask=mask)
    x = x.to(tl.float32)
    mean = tl.sum(x, 1)[:, None] / DIM
    away = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(away * away, 1)[:, None] / DIM + EPSILON)
    tl.store(mean_ptr + row, mean, mask=there)
    tl.store(scale_ptr + row, scale, mask=there)
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=inside, other=0.0).to(tl.float32)
    out = away * scale * weight + bias
    tl.store(out_ptr + place, out.to(out_ptr.dtype.element_ty), mask=mask)


@torch.library.triton_op("heedful::norm_of_sum", mutates_args={})
def norm_of_sum(
    x: Tensor,
    y: Tensor,
    seed: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    epsilon: float,
    dropout: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x + y [N, D], its norm, and each row's mean and scale, [N]."""
    rows, dim = x.shape
    columns = width(dim)
    total, out = torch.empty_like(x), torch.empty_like(x)
    mean, scale = (torch.empty(rows, dtype=torch.float32, device=x.device) for _ in range(2))
    block = max(1, TILE // columns)
    torch.library.wrap_triton(_norm_of_sum)[(triton.cdiv(rows, block),)](
        x, y, weight if seed is None else seed, weight, bias, total, out, mean, scale,
        rows, dim, epsilon, share(dropout), 1 / (1 - dropout),
        ROWS=block, COLUMNS=columns, num_warps=warps(columns, WARPS),
    )  # fmt: skip
    return total, out, mean, scale


def width(dim: int) -> int:
    """Columns of a tile that holds whole rows."""
    return max(NARROWEST, triton.next_power_of_2(dim))


def warps(columns: int, least: int) -> int:
    """That share a row, 512 columns each, or more where a row has very many."""
    return max(least, min(16, columns // 512))

"""The gradients of a layer norm in one pass over its rows, for a GPU.

What a compiler makes of them reads the rows again for the gradients by weight and bias. Here each
program goes through its share of the rows, some at a time, and adds those two up on the way.
N rows, D model, P programs.
"""

from typing import no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 4_096  # numbers that a program holds of one tensor
PROGRAMS = 4  # for each of the GPU's multiprocessors


@triton.jit
@no_type_check
def _slopes(
    dy_ptr,
    x_ptr,
    mean_ptr,
    scale_ptr,
    weight_ptr,
    dx_ptr,
    dweight_ptr,
    dbias_ptr,
    rows,
    dim,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """dx of every row, and each program's sums for the weight and the bias."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, COLUMNS)[None, :]
    inside = column < dim
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32)
    dweight = tl.zeros([ROWS, COLUMNS], tl.float32)
    dbias = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(program * ROWS, rows, programs * ROWS):
        row = first + tl.arange(0, ROWS)[:, None]
        there = row < rows
        place, mask = row.to(tl.int64) * dim + column, there & inside
        dy = tl.load(dy_ptr + place, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + row, mask=there, other=0.0)
        scale = tl.load(scale_ptr + row, mask=there, other=0.0)
        normed = tl.where(mask, (x - mean) * scale, 0.0)
        part = dy * weight
        level = tl.sum(part, 1)[:, None] / dim
        along = tl.sum(part * normed, 1)[:, None] / dim
        dx = (part - level - normed * along) * scale
        tl.store(dx_ptr + place, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        dweight += dy * normed
        dbias += dy
    place = program * dim + column
    tl.store(dweight_ptr + place, tl.sum(dweight, 0)[None, :], mask=inside)
    tl.store(dbias_ptr + place, tl.sum(dbias, 0)[None, :], mask=inside)


@torch.library.triton_op("heedful::norm_slopes", mutates_args={})
def norm_slopes(
    dy: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor, programs: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients by x [N, D], weight [D] and bias [D]; `mean` and `scale` are each row's, [N]."""
    rows, dim = x.shape
    columns = triton.next_power_of_2(dim)
    dx = torch.empty_like(x)
    sums = torch.empty(2, programs, dim, dtype=torch.float32, device=x.device)
    torch.library.wrap_triton(_slopes)[(programs,)](
        dy, x, mean, scale, weight, dx, sums[0], sums[1], rows, dim,
        ROWS=max(1, TILE // columns), COLUMNS=columns, num_warps=8,
    )  # fmt: skip
    total = sums.sum(1).to(weight.dtype)
    return dx, total[0].clone(), total[1].clone()


def programs(device: torch.device) -> int:
    """How many programs keep a GPU busy."""
    return PROGRAMS * torch.cuda.get_device_properties(device).multi_processor_count

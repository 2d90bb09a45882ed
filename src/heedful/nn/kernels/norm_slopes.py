"""The gradients of a layer norm in one pass over its rows, for a GPU; and of the sum that it is the
norm of.

What a compiler makes of them reads the rows again for the gradients by weight and bias. Here each
program goes through its share of the rows, some at a time, and adds those two up on the way; a
second kernel adds up what the programs have. N rows, D model, P programs.
"""

from typing import no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

from heedful.nn.kernels.forgetting import share, stays
from heedful.nn.kernels.norm_of_sum import warps, width

TILE = 512  # numbers of a tensor that a program holds
PROGRAMS = 8  # for each of the GPU's multiprocessors
SUMS = 256  # of the programs that are added at a time
BESIDE = 8  # columns that a program adds up


@triton.jit
@no_type_check
def _norm_slopes(
    dy_ptr, more_ptr, x_ptr, seed_ptr, mean_ptr, scale_ptr, weight_ptr,
    dx_ptr, dpart_ptr, dweight_ptr, dbias_ptr,
    rows, DIM: tl.constexpr, FORGOTTEN: tl.constexpr, TIMES: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, ADDS: tl.constexpr,
):  # fmt: skip
    """dx of every row, that of what was added to it, and each program's sums for the weight and
    the bias."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, COLUMNS)[None, :]
    inside = column < DIM
    weight = tl.load(weight_ptr + column, mask=inside, other=0.0).to(tl.float32)
    dweight = tl.zeros([ROWS, COLUMNS], tl.float32)
    dbias = tl.zeros([ROWS, COLUMNS], tl.float32)
    if FORGOTTEN:
        seed = tl.load(seed_ptr)
    for first in tl.range(program * ROWS, rows, programs * ROWS, num_stages=3):
        row = first + tl.arange(0, ROWS)[:, None]
        there = row < rows
        place, mask = row.to(tl.int64) * DIM + column, there & inside
        dy = tl.load(dy_ptr + place, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + row, mask=there, other=0.0)
        scale = tl.load(scale_ptr + row, mask=there, other=0.0)
        normed = tl.where(mask, (x - mean) * scale, 0.0)
        part = dy * weight
        level = tl.sum(part, 1)[:, None] / DIM
        along = tl.sum(part * normed, 1)[:, None] / DIM
        dx = (part - level - normed * along) * scale
        if ADDS:
            dx += tl.load(more_ptr + place, mask=mask, other=0.0).to(tl.float32)
        tl.store(dx_ptr + place, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        if FORGOTTEN:
            dpart = tl.where(stays(seed, row, FORGOTTEN, ROWS, COLUMNS), dx * TIMES, 0.0)
            tl.store(dpart_ptr + place, dpart.to(dpart_ptr.dtype.element_ty), mask=mask)
        dweight += dy * normed
        dbias += dy
    place = program * DIM + column
    tl.store(dweight_ptr + place, tl.sum(dweight, 0)[None, :], mask=inside)
    tl.store(dbias_ptr + place, tl.sum(dbias, 0)[None, :], mask=inside)


@triton.jit
@no_type_check
def _added_up(
    dweight_ptr, dbias_ptr, weight_ptr, bias_ptr, programs,
    DIM: tl.constexpr, SUMS: tl.constexpr, BESIDE: tl.constexpr,
):  # fmt: skip
    """Some columns of the sums over all programs, rounded as they are kept."""
    column = tl.program_id(0) * BESIDE + tl.arange(0, BESIDE)[None, :]
    weight = tl.zeros([SUMS, BESIDE], tl.float32)
    bias = tl.zeros([SUMS, BESIDE], tl.float32)
    for first in range(0, programs, SUMS):
        program = first + tl.arange(0, SUMS)[:, None]
        place, mask = program * DIM + column, (program < programs) & (column < DIM)
        weight += tl.load(dweight_ptr + place, mask=mask, other=0.0)
        bias += tl.load(dbias_ptr + place, mask=mask, other=0.0)
    weight, bias = tl.sum(weight, 0)[None, :], tl.sum(bias, 0)[None, :]
    tl.store(weight_ptr + column, weight.to(weight_ptr.dtype.element_ty), mask=column < DIM)
    tl.store(bias_ptr + column, bias.to(bias_ptr.dtype.element_ty), mask=column < DIM)


@torch.library.triton_op("heedful::norm_slopes", mutates_args={})
def norm_slopes(
    dy: Tensor,
    more: Tensor | None,
    x: Tensor,
    seed: Tensor | None,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor,
    dropout: float,
    programs: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients by x [N, D], by a part of which `dropout` was forgotten by this seed (empty without
    one), and by weight and bias, [D].

    `mean` and `scale` are each row's, [N]; `more` is what else x has of a gradient.
    """
    rows, dim = x.shape
    columns = width(dim)
    dx = torch.empty_like(x)
    dpart = x.new_empty(x.shape if seed is not None else (0,))
    sums = [torch.empty(programs, dim, dtype=torch.float32, device=x.device) for _ in range(2)]
    torch.library.wrap_triton(_norm_slopes)[(programs,)](
        dy, x if more is None else more, x, weight if seed is None else seed, mean, scale, weight,
        dx, dpart, *sums, rows, dim, share(dropout), 1 / (1 - dropout),
        ROWS=max(1, TILE // columns), COLUMNS=columns, ADDS=more is not None,
        num_warps=warps(columns, 1),
    )  # fmt: skip
    dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
    torch.library.wrap_triton(_added_up)[(triton.cdiv(dim, BESIDE),)](
        *sums, dweight, dbias, programs, DIM=dim, SUMS=SUMS, BESIDE=BESIDE, num_warps=8
    )
    return dx, dpart, dweight, dbias


def programs(device: torch.device) -> int:
    """How many programs keep a GPU busy."""
    return PROGRAMS * torch.cuda.get_device_properties(device).multi_processor_count

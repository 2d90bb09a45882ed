"""A sum and its layer norm in one: a program a row."""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def add_norm(
    x_ptr, y_ptr, weight_ptr, bias_ptr, sum_ptr, out_ptr, epsilon,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The sum is rounded as it is kept; its norm is computed in float32."""
    row, column = tl.program_id(0).to(tl.int64), tl.arange(0, COLUMNS)
    real = column < WIDTH
    here = row * WIDTH + column
    x = tl.load(x_ptr + here, mask=real, other=0.0).to(tl.float32)
    x += tl.load(y_ptr + here, mask=real, other=0.0).to(tl.float32)
    x = x.to(sum_ptr.dtype.element_ty)
    tl.store(sum_ptr + here, x, mask=real)
    x = x.to(tl.float32)
    away = tl.where(real, x - tl.sum(x, 0) / WIDTH, 0.0)
    x = away * tl.rsqrt(tl.sum(away * away, 0) / WIDTH + epsilon)
    x = x * tl.load(weight_ptr + column, mask=real, other=0.0).to(tl.float32)
    x = x + tl.load(bias_ptr + column, mask=real, other=0.0).to(tl.float32)
    tl.store(out_ptr + here, x.to(out_ptr.dtype.element_ty), mask=real)

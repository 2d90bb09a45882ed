"""The vector of one symbol a row, looked up and scaled: a program a row."""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def embed(
    ids_ptr, table_ptr, out_ptr, scale, nothing, WIDTH: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    """Of the symbol that is `nothing`, zeros."""
    row, column = tl.program_id(0).to(tl.int64), tl.arange(0, COLUMNS)
    real = column < WIDTH
    symbol = tl.load(ids_ptr + row)
    x = tl.load(table_ptr + symbol * WIDTH + column, mask=real, other=0.0).to(tl.float32) * scale
    x = tl.where(symbol == nothing, 0.0, x)
    tl.store(out_ptr + row * WIDTH + column, x.to(out_ptr.dtype.element_ty), mask=real)

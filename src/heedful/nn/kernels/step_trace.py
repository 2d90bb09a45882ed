"""Where rows were written, when they are put in another order: a program for all rows of a source.

A table says of each place of a row in which row it was written; at places that are not written yet
it names the row itself.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def retrace(
    trace_ptr, order_ptr, place_ptr, length,
    K: tl.constexpr, KS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """K rows of a source, and KS the power of 2 that holds them. The newest place counts."""
    k = tl.arange(0, KS)
    row, real = tl.program_id(0).to(tl.int64) * K + k, k < K
    line = tl.load(order_ptr + row, mask=real, other=0)
    stop = tl.load(place_ptr).to(tl.int32) + 1
    for first in range(0, stop, BLOCK):
        place = (first + tl.arange(0, BLOCK))[None, :]
        inside = real[:, None] & (place < stop)
        written = tl.load(trace_ptr + line[:, None] * length + place, mask=inside, other=0)
        tl.debug_barrier()  # rows are read by others than those that write them
        tl.store(trace_ptr + row[:, None] * length + place, written, mask=inside)

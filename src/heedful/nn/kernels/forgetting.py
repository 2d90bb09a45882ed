"""Dropout inside a kernel: which numbers are forgotten follows from a seed, on the way forward and
on the way back, so that nobody has to keep it."""

from typing import no_type_check

import triton
import triton.language as tl

BITS = 31  # of chance that decide on a number
ROUNDS = tl.constexpr(7)  # of mixing; fewer than Philox's usual ten, and no test tells them apart


@triton.jit
@no_type_check
def stays(seed, row, FORGOTTEN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Which numbers of some rows stay; so many of 2³¹ do not. Each draw decides on four.

    Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
    """
    four = row * (COLUMNS // 4) + tl.arange(0, COLUMNS // 4)[None, :]
    a, b, c, d = tl.randint4x(seed, four, ROUNDS)
    chance = tl.reshape(tl.join(tl.join(a, b), tl.join(c, d)), (ROWS, COLUMNS))
    return (chance.to(tl.uint32, bitcast=True) >> 1).to(tl.int32) >= FORGOTTEN


def share(dropout: float) -> int:
    """So many of 2³¹."""
    return round(dropout * 2**BITS)

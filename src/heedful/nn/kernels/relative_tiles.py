"""What the tiles of relative attention have in common: vectors by distance, and the skew in a tile.

A tile is BLOCK queries by BLOCK keys. The distances in it are two blocks of vectors, `low` and
`high`, of which one is kept from the tile before: where tile (i, j) has distances from j - i on as
its high block, the next one has them as its low block. Query a and key b of a tile are b - a apart,
which is column b - a - 1 of the high block, or BLOCK more of the low one. So the blocks are joined
into one, `a` columns of which are high, and row a of that is turned by a + 1 columns.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def vectors(
    table, first, rows, back, WIDTH: tl.constexpr,
    BLOCK: tl.constexpr, COLUMNS: tl.constexpr, CLIPPED: tl.constexpr,
):  # fmt: skip
    """The vectors of BLOCK distances from `first` on; beyond, those of the ends or zeros."""
    row, column = first + back + tl.arange(0, BLOCK), tl.arange(0, COLUMNS)
    mask = ((row >= 0) & (row < rows) | CLIPPED)[:, None]
    if WIDTH < COLUMNS:
        mask = mask & (column < WIDTH)[None, :]
    row = tl.minimum(tl.maximum(row, 0), rows - 1)
    return tl.load(table + row[:, None] * WIDTH + column[None, :], mask=mask, other=0.0)


@triton.jit
@no_type_check
def add_vectors(
    table, x, first, rows, back, WIDTH: tl.constexpr,
    BLOCK: tl.constexpr, COLUMNS: tl.constexpr, CLIPPED: tl.constexpr,
):  # fmt: skip
    """Add to the vectors of BLOCK distances from `first` on, others adding at the same time."""
    row, column = first + back + tl.arange(0, BLOCK), tl.arange(0, COLUMNS)
    mask = ((row >= 0) & (row < rows) | CLIPPED)[:, None]
    if WIDTH < COLUMNS:
        mask = mask & (column < WIDTH)[None, :]
    row = tl.minimum(tl.maximum(row, 0), rows - 1)
    tl.atomic_add(table + row[:, None] * WIDTH + column[None, :], x, mask=mask, sem="relaxed")


@triton.jit
@no_type_check
def end_vector(table, row, WIDTH: tl.constexpr, COLUMNS: tl.constexpr):
    """One vector of the table, [COLUMNS], as float32."""
    column = tl.arange(0, COLUMNS)
    return tl.load(table + row * WIDTH + column, mask=column < WIDTH, other=0.0).to(tl.float32)


@triton.jit
@no_type_check
def is_low(BLOCK: tl.constexpr):
    """Where the joined block holds the low one."""
    return tl.arange(0, BLOCK)[:, None] + tl.arange(0, BLOCK)[None, :] >= BLOCK - 1


@triton.jit
@no_type_check
def by_key(low, high, BLOCK: tl.constexpr):
    """Scores by distance, of two blocks, as scores by key."""
    a, b = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    joined = tl.where(a + b >= BLOCK - 1, low, high)
    return tl.gather(joined, (b - a - 1) & (BLOCK - 1), 1)


@triton.jit
@no_type_check
def by_distance(x, BLOCK: tl.constexpr):
    """The other way: scores by key as those of the joined block."""
    a, b = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    return tl.gather(x, (b + a + 1) & (BLOCK - 1), 1)


@triton.jit
@no_type_check
def up(x, BLOCK: tl.constexpr):
    """The next whole block from `x` on; 0 for what is below."""
    return (tl.maximum(x, 0) + BLOCK - 1) // BLOCK * BLOCK


@triton.jit
@no_type_check
def between(x, low, high):
    return tl.minimum(tl.maximum(x, low), high)

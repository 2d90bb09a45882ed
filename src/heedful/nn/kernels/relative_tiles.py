"""What the tiles of relative attention have in common: vectors by distance, and the skew in a tile.

A tile is BLOCK queries by BLOCK keys. The distances in it are two blocks of vectors, `low` and
`high`: where tile (i, j) has distances from j - i on as its high block, the next one has them as
its low block. Query a and key b of a tile are b - a apart, which is column b - a - 1 of the high
block, or BLOCK more of the low one. So row a of the two, side by side, is moved by a + 1 columns:
within registers where that can be (`TURNS`). Elsewhere the blocks are joined into one, `a` columns
of which are high, and row a of that is turned.
"""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.nn.kernels import relative_turns

RIGHT, OF_RIGHT = (
    tl.constexpr(text) for text in (relative_turns.right(), relative_turns.operands(32, "f"))
)
LEFT, OF_LEFT = (
    tl.constexpr(text) for text in (relative_turns.left(), relative_turns.operands(16, "r"))
)


@triton.jit
@no_type_check
def own_work(heads, BLOCK: tl.constexpr, LAST_FIRST: tl.constexpr):
    """Where a program's block begins, its row and its head. Programs are started in order: all
    first blocks, or all last ones, so that those with most to do are not the last to begin."""
    block = tl.program_id(1)
    if LAST_FIRST:
        block = tl.num_programs(1) - 1 - block
    row, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    return block * BLOCK, row.to(tl.int64), head


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
def by_key(low, high, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    """Scores by distance, of two blocks, as scores by key."""
    if TURNS:
        return tl.inline_asm_elementwise(
            RIGHT, OF_RIGHT, [low, high], dtype=tl.float32, is_pure=True, pack=32
        )
    a, b = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    joined = tl.where(a + b >= BLOCK - 1, low, high)
    return tl.gather(joined, (b - a - 1) & (BLOCK - 1), 1)


@triton.jit
@no_type_check
def by_distance(before, x, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    """The other way: scores by key, of a tile and the one before, as those of their one block of
    distances, which is high before and then low."""
    if TURNS:
        return tl.inline_asm_elementwise(
            LEFT, OF_LEFT, [before, x], dtype=tl.bfloat16, is_pure=True, pack=32
        )
    a, b = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    joined = tl.where(b <= a, x, before)
    return tl.gather(joined, (b + a + 1) & (BLOCK - 1), 1)


@triton.jit
@no_type_check
def up(x, BLOCK: tl.constexpr):
    """The next whole block from `x` on; 0 for what is below."""
    return (tl.maximum(x, 0) + BLOCK - 1) // BLOCK * BLOCK


@triton.jit
@no_type_check
def between(x, low, high):
    return tl.minimum(tl.maximum(x, low), high)

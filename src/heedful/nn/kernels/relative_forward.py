"""The forward pass of relative attention, a program for each block of queries.

Keys so far behind, or so far ahead, that all of a tile is beyond the vectors need no product with
them: there the score is one number a query, or none.
"""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.nn.kernels.relative_tiles import (
    between,
    by_key,
    end_vector,
    own_work,
    up,
    vectors,
)
from heedful.nn.kernels.tiles import common, product, put, seen, tokens, visible


@triton.jit
@no_type_check
def _taken_in(
    total, highest, read, q, bias, k_ptr, v_ptr, k_place, v_place, start, end, since, until, j,
    length, WIDTH: tl.constexpr, SCALE: tl.constexpr,
    BLOCK: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One more tile of keys in the running softmax. All queries see keys from `since` `until`."""
    k = tokens(k_ptr, j, length, k_place, WIDTH, BLOCK, COLUMNS)
    score = product(q, tl.trans(k), PRECISION) + bias
    if (j < since) | (j + BLOCK > until):
        score = tl.where(visible(start, end, j, BLOCK), score, -float("inf"))
    higher = tl.maximum(highest, tl.max(score, 1) * SCALE)
    level = tl.where(higher == -float("inf"), 0.0, higher)
    share = tl.exp2(score * SCALE - level[:, None])
    before = tl.exp2(highest - level)
    v = tokens(v_ptr, j, length, v_place, WIDTH, BLOCK, COLUMNS)
    read = read * before[:, None] + product(share.to(v.dtype), v, PRECISION)
    return total * before + tl.sum(share, 1), higher, read


@triton.jit
@no_type_check
def forward(
    q_ptr, k_ptr, v_ptr, table_ptr, seen_ptr, out_ptr, level_ptr,
    q_row, q_head, q_place, k_row, k_head, k_place, v_row, v_head, v_place,
    out_row, out_head, out_place, SCALE: tl.constexpr, heads, length, rows, back,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr, CLIPPED: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, TURNS: tl.constexpr,
):  # fmt: skip
    """What queries read, and the base-2 logarithm of each one's sum, for the way back."""
    first, row, head = own_work(heads, BLOCK, CAUSAL)
    table = table_ptr + head * rows * WIDTH
    q = tokens(q_ptr + row * q_row + head * q_head, first, length, q_place, WIDTH, BLOCK, COLUMNS)
    start, end = seen(seen_ptr + row * length * 2, first, length, length, BLOCK, CAUSAL)
    k_ptr += row * k_row + head * k_head
    v_ptr += row * v_row + head * v_head

    since, until = common(start, end)
    begin, stop = tl.min(start) // BLOCK * BLOCK, tl.max(end)
    # From `near` on distances have vectors, from `far` on they have none of their own again.
    own = 0 if CLIPPED else 1
    near = between(up(first - back - BLOCK + 2 - own, BLOCK), begin, up(stop, BLOCK))
    far = between(up(first + BLOCK - 1 + rows - 1 - back + own, BLOCK), near, up(stop, BLOCK))

    total = tl.zeros([BLOCK], tl.float32)
    highest = tl.full([BLOCK], -float("inf"), tl.float32)
    read = tl.zeros([BLOCK, COLUMNS], tl.float32)
    bias = tl.zeros([BLOCK, 1], tl.float32)
    if CLIPPED:
        bias = tl.sum(q.to(tl.float32) * end_vector(table, 0, WIDTH, COLUMNS)[None, :], 1)[:, None]
    for j in range(begin, near, BLOCK):
        total, highest, read = _taken_in(
            total, highest, read, q, bias, k_ptr, v_ptr, k_place, v_place, start, end, since, until,
            j, length, WIDTH, SCALE, BLOCK, COLUMNS, PRECISION,
        )  # fmt: skip
    low = product(
        q,
        tl.trans(
            vectors(table, near - first - BLOCK + 1, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        ),
        PRECISION,
    )
    for j in range(near, far, BLOCK):
        ahead = vectors(table, j - first + 1, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        high = product(q, tl.trans(ahead), PRECISION)
        total, highest, read = _taken_in(
            total, highest, read, q, by_key(low, high, BLOCK, TURNS), k_ptr, v_ptr, k_place,
            v_place, start, end, since, until, j, length, WIDTH, SCALE, BLOCK, COLUMNS, PRECISION,
        )  # fmt: skip
        low = high
    if not CAUSAL:
        if CLIPPED:
            last = end_vector(table, rows - 1, WIDTH, COLUMNS)
            bias = tl.sum(q.to(tl.float32) * last[None, :], 1)[:, None]
        for j in range(far, stop, BLOCK):
            total, highest, read = _taken_in(
                total, highest, read, q, bias, k_ptr, v_ptr, k_place, v_place, start, end, since,
                until, j, length, WIDTH, SCALE, BLOCK, COLUMNS, PRECISION,
            )  # fmt: skip

    blind = total == 0.0
    safe = tl.where(blind, 1.0, total)
    put(
        out_ptr + row * out_row + head * out_head, read / safe[:, None], first, length, out_place,
        WIDTH, BLOCK, COLUMNS,
    )  # fmt: skip
    at = first + tl.arange(0, BLOCK)
    level = tl.where(blind, 0.0, highest + tl.log2(safe))
    tl.store(level_ptr + (row * heads + head) * length + at, level, mask=at < length)

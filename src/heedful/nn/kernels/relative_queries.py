"""Gradients of relative attention by queries and by the vectors, a program a block of queries."""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.nn.kernels.relative_tiles import (
    add_vectors,
    between,
    by_distance,
    by_key,
    end_vector,
    own_work,
    up,
    vectors,
)
from heedful.nn.kernels.tiles import common, numbers, product, put, seen, tokens, visible


@triton.jit
@no_type_check
def _slope(
    q, bias, k, v, dout, delta, level, start, end, since, until, j, SCALE: tl.constexpr,
    BLOCK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradient by the scores of one tile, before they are scaled. All queries see keys from
    `since` `until`."""
    score = (product(q, tl.trans(k), PRECISION) + bias) * SCALE
    share = tl.exp2(score - level[:, None])
    if (j < since) | (j + BLOCK > until):
        share = tl.where(visible(start, end, j, BLOCK), share, 0.0)
    wanted = product(dout, tl.trans(v), PRECISION)
    return share * (wanted - delta[:, None])


@triton.jit
@no_type_check
def _add_end(
    table, row, sums, q, BY_SCALE: tl.constexpr, WIDTH: tl.constexpr, COLUMNS: tl.constexpr
):
    """Add what all keys beyond an end give to the vector of that end."""
    column = tl.arange(0, COLUMNS)
    x = tl.sum(sums[:, None] * q.to(tl.float32), 0) * BY_SCALE
    tl.atomic_add(table + row * WIDTH + column, x, mask=column < WIDTH, sem="relaxed")


@triton.jit
@no_type_check
def queries(
    q_ptr, k_ptr, v_ptr, table_ptr, seen_ptr, out_ptr, level_ptr, dout_ptr,
    dq_ptr, dtable_ptr, delta_ptr, ends_ptr,
    q_row, q_head, q_place, k_row, k_head, k_place, v_row, v_head, v_place,
    out_row, out_head, out_place, dout_row, dout_head, dout_place, dq_row, dq_head, dq_place,
    SCALE: tl.constexpr, BY_SCALE: tl.constexpr, heads, length, rows, back,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr, CLIPPED: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, TURNS: tl.constexpr,
):  # fmt: skip
    """dq, each program's share of dtable; and delta, which the keys' pass needs, and each query's
    score with the vectors of the two ends."""
    first, row, head = own_work(heads, BLOCK, CAUSAL)
    line = (row * heads + head) * length
    table = table_ptr + head * rows * WIDTH
    dtable = dtable_ptr + head * rows * WIDTH
    q = tokens(q_ptr + row * q_row + head * q_head, first, length, q_place, WIDTH, BLOCK, COLUMNS)
    dout = tokens(
        dout_ptr + row * dout_row + head * dout_head, first, length, dout_place,
        WIDTH, BLOCK, COLUMNS,
    )  # fmt: skip
    out = tokens(
        out_ptr + row * out_row + head * out_head, first, length, out_place,
        WIDTH, BLOCK, COLUMNS,
    )  # fmt: skip
    level = numbers(level_ptr + line, first, length, 0.0, BLOCK)
    start, end = seen(seen_ptr + row * length * 2, first, length, length, BLOCK, CAUSAL)
    delta = tl.sum(dout.to(tl.float32) * out.to(tl.float32), 1)
    at = first + tl.arange(0, BLOCK)
    tl.store(delta_ptr + line + at, delta, mask=at < length)
    k_ptr += row * k_row + head * k_head
    v_ptr += row * v_row + head * v_head

    since, until = common(start, end)
    begin, stop = tl.min(start) // BLOCK * BLOCK, tl.max(end)
    own = 0 if CLIPPED else 1
    near = between(up(first - back - BLOCK + 2 - own, BLOCK), begin, up(stop, BLOCK))
    far = between(up(first + BLOCK - 1 + rows - 1 - back + own, BLOCK), near, up(stop, BLOCK))

    dq = tl.zeros([BLOCK, COLUMNS], tl.float32)
    sums = tl.zeros([BLOCK], tl.float32)
    bias = tl.zeros([BLOCK, 1], tl.float32)
    last = end_vector(table, 0, WIDTH, COLUMNS)
    if CLIPPED:
        score = tl.sum(q.to(tl.float32) * last[None, :], 1)
        tl.store(ends_ptr + line + at, score, mask=at < length)
        bias = score[:, None]
    for j in range(begin, near, BLOCK):
        k = tokens(k_ptr, j, length, k_place, WIDTH, BLOCK, COLUMNS)
        v = tokens(v_ptr, j, length, v_place, WIDTH, BLOCK, COLUMNS)
        slope = _slope(
            q, bias, k, v, dout, delta, level, start, end, since, until, j, SCALE, BLOCK, PRECISION,
        )  # fmt: skip
        dq += product(slope.to(k.dtype), k, PRECISION)
        sums += tl.sum(slope, 1)
    if CLIPPED:
        dq += sums[:, None] * last[None, :]
        _add_end(dtable, 0, sums, q, BY_SCALE, WIDTH, COLUMNS)

    # What a block of distances is given comes from two tiles: as their high block, then as low. Its
    # scores are made twice too: to keep them would cost more registers than that costs time.
    none = tl.zeros([BLOCK, BLOCK], q.dtype)
    before = none
    for j in range(near, far, BLOCK):
        lowest = j - first - BLOCK + 1
        behind = vectors(table, lowest, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        low = product(q, tl.trans(behind), PRECISION)
        ahead = vectors(table, j - first + 1, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        high = product(q, tl.trans(ahead), PRECISION)
        k = tokens(k_ptr, j, length, k_place, WIDTH, BLOCK, COLUMNS)
        v = tokens(v_ptr, j, length, v_place, WIDTH, BLOCK, COLUMNS)
        slope = _slope(
            q, by_key(low, high, BLOCK, TURNS), k, v, dout, delta, level, start, end,
            since, until, j, SCALE, BLOCK, PRECISION,
        ).to(q.dtype)  # fmt: skip
        dq += product(slope, k, PRECISION)
        whole = by_distance(before, slope, BLOCK, TURNS)
        before = slope
        dq += product(whole, behind, PRECISION)
        add_vectors(
            dtable, product(tl.trans(whole), q, PRECISION) * BY_SCALE,
            lowest, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED,
        )  # fmt: skip
    if far > near:
        lowest = far - first - BLOCK + 1
        behind = vectors(table, lowest, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        whole = by_distance(before, none, BLOCK, TURNS)
        dq += product(whole, behind, PRECISION)
        add_vectors(
            dtable, product(tl.trans(whole), q, PRECISION) * BY_SCALE,
            lowest, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED,
        )  # fmt: skip

    if not CAUSAL:
        sums = tl.zeros([BLOCK], tl.float32)
        last = end_vector(table, rows - 1, WIDTH, COLUMNS)
        if CLIPPED:
            score = tl.sum(q.to(tl.float32) * last[None, :], 1)
            ends_ptr += tl.num_programs(0).to(tl.int64) * length
            tl.store(ends_ptr + line + at, score, mask=at < length)
            bias = score[:, None]
        for j in range(far, stop, BLOCK):
            k = tokens(k_ptr, j, length, k_place, WIDTH, BLOCK, COLUMNS)
            v = tokens(v_ptr, j, length, v_place, WIDTH, BLOCK, COLUMNS)
            slope = _slope(
                q, bias, k, v, dout, delta, level, start, end, since, until, j, SCALE,
                BLOCK, PRECISION,
            )  # fmt: skip
            dq += product(slope.to(k.dtype), k, PRECISION)
            sums += tl.sum(slope, 1)
        if CLIPPED:
            dq += sums[:, None] * last[None, :]
            _add_end(dtable, rows - 1, sums, q, BY_SCALE, WIDTH, COLUMNS)
    put(
        dq_ptr + row * dq_row + head * dq_head, dq * BY_SCALE, first, length, dq_place,
        WIDTH, BLOCK, COLUMNS,
    )  # fmt: skip

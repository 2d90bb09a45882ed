"""Gradients of relative attention by keys and values, a program for each block of keys.

Queries are read by products alone, which go on while the next ones are loaded: what is read into
registers too would be loaded into the place that the products still read.
"""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.nn.kernels.relative_tiles import (
    between,
    by_key,
    own_work,
    up,
    vectors,
)
from heedful.nn.kernels.tiles import common, numbers, product, put, seen, seen_by, tokens, visible


@triton.jit
@no_type_check
def _heard(
    dk, dv, k, v, q, bias, dout_ptr, dout_place, level_ptr, delta_ptr, seen_ptr, since, until,
    i, first, length, WIDTH: tl.constexpr, SCALE: tl.constexpr,
    BLOCK: tl.constexpr, COLUMNS: tl.constexpr, CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One more tile of queries in the gradients. Queries from `since` `until` see all keys."""
    dout = tokens(dout_ptr, i, length, dout_place, WIDTH, BLOCK, COLUMNS)
    level = numbers(level_ptr, i, length, 0.0, BLOCK)
    delta = numbers(delta_ptr, i, length, 0.0, BLOCK)
    score = (product(q, tl.trans(k), PRECISION) + bias) * SCALE
    share = tl.exp2(score - level[:, None])
    if (i < since) | (i + BLOCK > until):
        start, end = seen(seen_ptr, i, length, length, BLOCK, CAUSAL)
        share = tl.where(visible(start, end, first, BLOCK), share, 0.0)
    wanted = product(dout, tl.trans(v), PRECISION)
    slope = (share * (wanted - delta[:, None])).to(q.dtype)
    dv += product(tl.trans(share.to(dout.dtype)), dout, PRECISION)
    dk += product(tl.trans(slope), q, PRECISION)
    return dk, dv


@triton.jit
@no_type_check
def keys(
    q_ptr, k_ptr, v_ptr, table_ptr, seen_ptr, seen_by_ptr, level_ptr, delta_ptr, ends_ptr,
    dout_ptr, dk_ptr, dv_ptr,
    q_row, q_head, q_place, k_row, k_head, k_place, v_row, v_head, v_place,
    dout_row, dout_head, dout_place, dk_row, dk_head, dk_place, dv_row, dv_head, dv_place,
    SCALE: tl.constexpr, BY_SCALE: tl.constexpr, heads, length, rows, back,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr, CLIPPED: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr, TURNS: tl.constexpr,
):  # fmt: skip
    """dk and dv. Queries after the block are further and further ahead of it; `ends` are their
    scores with the vectors of the two ends, as the queries' pass has left them."""
    first, row, head = own_work(heads, BLOCK, False)
    line = (row * heads + head) * length
    table = table_ptr + head * rows * WIDTH
    k = tokens(k_ptr + row * k_row + head * k_head, first, length, k_place, WIDTH, BLOCK, COLUMNS)
    v = tokens(v_ptr + row * v_row + head * v_head, first, length, v_place, WIDTH, BLOCK, COLUMNS)
    seen_ptr += row * length * 2
    level_ptr += line
    delta_ptr += line
    ends_ptr += line
    q_ptr += row * q_row + head * q_head
    dout_ptr += row * dout_row + head * dout_head

    start, end = seen_by(seen_by_ptr + row * length * 2, first, length, length, BLOCK, CAUSAL)
    since, until = common(start, end)
    begin, stop = tl.min(start) // BLOCK * BLOCK, tl.max(end)
    # Before `near` these keys lie beyond the last vector, from `far` on behind the first.
    own = 0 if CLIPPED else 1
    near = between(up(first - BLOCK + 2 - (rows - 1 - back) - own, BLOCK), begin, up(stop, BLOCK))
    far = between(up(first + BLOCK - 1 + back + own, BLOCK), near, up(stop, BLOCK))

    dk = tl.zeros([BLOCK, COLUMNS], tl.float32)
    dv = tl.zeros([BLOCK, COLUMNS], tl.float32)
    if not CAUSAL:
        last_ptr = ends_ptr + tl.num_programs(0).to(tl.int64) * length
        for i in range(begin, near, BLOCK):
            q = tokens(q_ptr, i, length, q_place, WIDTH, BLOCK, COLUMNS)
            bias = tl.zeros([BLOCK, 1], tl.float32)
            if CLIPPED:
                bias = numbers(last_ptr, i, length, 0.0, BLOCK)[:, None]
            dk, dv = _heard(
                dk, dv, k, v, q, bias, dout_ptr, dout_place, level_ptr, delta_ptr, seen_ptr,
                since, until, i, first, length, WIDTH, SCALE, BLOCK, COLUMNS, CAUSAL, PRECISION,
            )  # fmt: skip
    for i in range(near, far, BLOCK):
        q = tokens(q_ptr, i, length, q_place, WIDTH, BLOCK, COLUMNS)
        behind = vectors(table, first - i - BLOCK + 1, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        ahead = vectors(table, first - i + 1, rows, back, WIDTH, BLOCK, COLUMNS, CLIPPED)
        low = product(q, tl.trans(behind), PRECISION)
        high = product(q, tl.trans(ahead), PRECISION)
        dk, dv = _heard(
            dk, dv, k, v, q, by_key(low, high, BLOCK, TURNS), dout_ptr, dout_place, level_ptr,
            delta_ptr, seen_ptr, since, until, i, first, length, WIDTH, SCALE,
            BLOCK, COLUMNS, CAUSAL, PRECISION,
        )  # fmt: skip
    for i in range(far, stop, BLOCK):
        q = tokens(q_ptr, i, length, q_place, WIDTH, BLOCK, COLUMNS)
        bias = tl.zeros([BLOCK, 1], tl.float32)
        if CLIPPED:
            bias = numbers(ends_ptr, i, length, 0.0, BLOCK)[:, None]
        dk, dv = _heard(
            dk, dv, k, v, q, bias, dout_ptr, dout_place, level_ptr, delta_ptr, seen_ptr,
            since, until, i, first, length, WIDTH, SCALE, BLOCK, COLUMNS, CAUSAL, PRECISION,
        )  # fmt: skip
    put(
        dk_ptr + row * dk_row + head * dk_head, dk * BY_SCALE, first, length, dk_place,
        WIDTH, BLOCK, COLUMNS,
    )  # fmt: skip
    put(dv_ptr + row * dv_row + head * dv_head, dv, first, length, dv_place, WIDTH, BLOCK, COLUMNS)

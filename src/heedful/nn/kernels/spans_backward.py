"""Gradients of attention in spans: by queries, a program for each block of them; then by keys and
values, a program for each block of those."""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.nn.kernels.tiles import numbers, product, put, seen, seen_by, tokens, visible


@triton.jit
@no_type_check
def queries_slopes(
    q_ptr, k_ptr, v_ptr, seen_ptr, out_ptr, level_ptr, dout_ptr, dq_ptr, delta_ptr,
    q_row, q_head, q_place, k_row, k_head, k_place, v_row, v_head, v_place,
    out_row, out_head, out_place, dout_row, dout_head, dout_place,
    dq_row, dq_head, dq_place, SCALE: tl.constexpr, BY_SCALE: tl.constexpr, heads, queries, keys,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """dq, and delta, which the keys' pass needs."""
    first, row = tl.program_id(0) * QUERIES, (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    line = (row * heads + head) * queries
    q = tokens(
        q_ptr + row * q_row + head * q_head, first, queries, q_place, WIDTH, QUERIES, COLUMNS
    )
    dout = tokens(
        dout_ptr + row * dout_row + head * dout_head, first, queries, dout_place,
        WIDTH, QUERIES, COLUMNS,
    )  # fmt: skip
    out = tokens(
        out_ptr + row * out_row + head * out_head, first, queries, out_place,
        WIDTH, QUERIES, COLUMNS,
    )  # fmt: skip
    level = numbers(level_ptr + line, first, queries, 0.0, QUERIES)
    delta = tl.sum(dout.to(tl.float32) * out.to(tl.float32), 1)
    at = first + tl.arange(0, QUERIES)
    tl.store(delta_ptr + line + at, delta, mask=at < queries)
    start, end = seen(seen_ptr + row * queries * 2, first, queries, keys, QUERIES, CAUSAL)
    k_ptr += row * k_row + head * k_head
    v_ptr += row * v_row + head * v_head

    dq = tl.zeros([QUERIES, COLUMNS], tl.float32)
    for j in range(tl.min(start) // KEYS * KEYS, tl.max(end), KEYS):
        k = tokens(k_ptr, j, keys, k_place, WIDTH, KEYS, COLUMNS)
        v = tokens(v_ptr, j, keys, v_place, WIDTH, KEYS, COLUMNS)
        score = product(q, tl.trans(k), PRECISION) * SCALE
        share = tl.where(visible(start, end, j, KEYS), tl.exp2(score - level[:, None]), 0.0)
        slope = share * (product(dout, tl.trans(v), PRECISION) - delta[:, None])
        dq += product(slope.to(k.dtype), k, PRECISION)
    put(
        dq_ptr + row * dq_row + head * dq_head, dq * BY_SCALE, first, queries, dq_place,
        WIDTH, QUERIES, COLUMNS,
    )  # fmt: skip


@triton.jit
@no_type_check
def keys_slopes(
    q_ptr, k_ptr, v_ptr, seen_ptr, seen_by_ptr, level_ptr, delta_ptr, dout_ptr, slope_ptr, before,
    q_row, q_head, q_place, k_row, k_head, k_place, v_row, v_head, v_place,
    dout_row, dout_head, dout_place, slope_row, slope_head, slope_place,
    SCALE: tl.constexpr, BY_SCALE: tl.constexpr, heads, queries, keys,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """dk and dv, in one tensor after as many heads as are `before`: first all of one, then all of
    the other."""
    first, row = tl.program_id(0) * KEYS, (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    line = (row * heads + head) * queries
    k = tokens(k_ptr + row * k_row + head * k_head, first, keys, k_place, WIDTH, KEYS, COLUMNS)
    v = tokens(v_ptr + row * v_row + head * v_head, first, keys, v_place, WIDTH, KEYS, COLUMNS)
    since, until = seen_by(seen_by_ptr + row * keys * 2, first, keys, queries, KEYS, CAUSAL)
    q_ptr += row * q_row + head * q_head
    dout_ptr += row * dout_row + head * dout_head
    seen_ptr += row * queries * 2

    dk = tl.zeros([KEYS, COLUMNS], tl.float32)
    dv = tl.zeros([KEYS, COLUMNS], tl.float32)
    for i in range(tl.min(since) // QUERIES * QUERIES, tl.max(until), QUERIES):
        q = tokens(q_ptr, i, queries, q_place, WIDTH, QUERIES, COLUMNS)
        dout = tokens(dout_ptr, i, queries, dout_place, WIDTH, QUERIES, COLUMNS)
        level = numbers(level_ptr + line, i, queries, 0.0, QUERIES)
        delta = numbers(delta_ptr + line, i, queries, 0.0, QUERIES)
        start, end = seen(seen_ptr, i, queries, keys, QUERIES, CAUSAL)
        score = product(q, tl.trans(k), PRECISION) * SCALE
        share = tl.where(visible(start, end, first, KEYS), tl.exp2(score - level[:, None]), 0.0)
        slope = share * (product(dout, tl.trans(v), PRECISION) - delta[:, None])
        dv += product(tl.trans(share.to(dout.dtype)), dout, PRECISION)
        dk += product(tl.trans(slope.to(q.dtype)), q, PRECISION)
    slope_ptr += row * slope_row + (before + head) * slope_head
    put(slope_ptr, dk * BY_SCALE, first, keys, slope_place, WIDTH, KEYS, COLUMNS)
    put(slope_ptr + heads * slope_head, dv, first, keys, slope_place, WIDTH, KEYS, COLUMNS)

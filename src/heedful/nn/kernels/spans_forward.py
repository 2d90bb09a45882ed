"""The forward pass of attention in spans, a program for each block of queries of a head."""

from typing import no_type_check

import triton
import triton.language as tl

from heedful.nn.kernels.tiles import product, put, seen, tokens, visible


@triton.jit
@no_type_check
def forward(
    q_ptr, k_ptr, v_ptr, seen_ptr, out_ptr, level_ptr,
    q_row, q_head, q_place, k_row, k_head, k_place, v_row, v_head, v_place,
    out_row, out_head, out_place, SCALE: tl.constexpr, heads, queries, keys,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    CAUSAL: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """What queries read, and the base-2 logarithm of each one's sum, for the way back."""
    first, row = tl.program_id(0) * QUERIES, (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    q = tokens(
        q_ptr + row * q_row + head * q_head, first, queries, q_place, WIDTH, QUERIES, COLUMNS
    )
    start, end = seen(seen_ptr + row * queries * 2, first, queries, keys, QUERIES, CAUSAL)
    k_ptr += row * k_row + head * k_head
    v_ptr += row * v_row + head * v_head

    total = tl.zeros([QUERIES], tl.float32)
    highest = tl.full([QUERIES], -float("inf"), tl.float32)
    read = tl.zeros([QUERIES, COLUMNS], tl.float32)
    for j in range(tl.min(start) // KEYS * KEYS, tl.max(end), KEYS):
        k = tokens(k_ptr, j, keys, k_place, WIDTH, KEYS, COLUMNS)
        score = product(q, tl.trans(k), PRECISION) * SCALE
        score = tl.where(visible(start, end, j, KEYS), score, -float("inf"))
        higher = tl.maximum(highest, tl.max(score, 1))
        level = tl.where(higher == -float("inf"), 0.0, higher)
        share = tl.exp2(score - level[:, None])
        before = tl.exp2(highest - level)
        v = tokens(v_ptr, j, keys, v_place, WIDTH, KEYS, COLUMNS)
        read = read * before[:, None] + product(share.to(v.dtype), v, PRECISION)
        total = total * before + tl.sum(share, 1)
        highest = higher

    blind = total == 0.0
    safe = tl.where(blind, 1.0, total)
    put(
        out_ptr + row * out_row + head * out_head, read / safe[:, None], first, queries, out_place,
        WIDTH, QUERIES, COLUMNS,
    )  # fmt: skip
    at = first + tl.arange(0, QUERIES)
    level = tl.where(blind, 0.0, highest + tl.log2(safe))
    tl.store(level_ptr + (row * heads + head) * queries + at, level, mask=at < queries)

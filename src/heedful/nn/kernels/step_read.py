"""What one query a row reads of keys and values that stay where they are: a program a row and head.

Each program goes through its own row's keys, a block of places at a time. In a memory that is
traced a place is looked up in the row in which it was written; the new token's key and value are
written by the way. Of a source, several rows read the same keys.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def read(
    q_ptr, k_ptr, v_ptr, segments_ptr, own_ptr, out_ptr,
    trace_ptr, place_ptr, new_k_ptr, new_v_ptr,
    q_row, q_head, new_k_row, new_k_head, new_v_row, new_v_head,
    scale, length, together, heads,
    LENT: tl.constexpr, WIDTH: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
    TRACED: tl.constexpr,
):  # fmt: skip
    """`scale` is for powers of 2; LENT heads of queries share one of keys."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column = tl.arange(0, COLUMNS)
    real = column < WIDTH
    q = tl.load(q_ptr + row * q_row + head * q_head + column, mask=real, other=0.0)
    q = q.to(tl.float32) * scale
    own = tl.load(own_ptr + row)
    few, lender = heads // LENT, head // LENT
    if TRACED:
        stop = tl.load(place_ptr).to(tl.int32)
        new_k = tl.load(new_k_ptr + row * new_k_row + lender * new_k_head + column, real, other=0.0)
        new_v = tl.load(new_v_ptr + row * new_v_row + lender * new_v_head + column, real, other=0.0)
        here = ((row * few + lender) * length + stop) * WIDTH + column
        writes = real & (head % LENT == 0)
        tl.store(k_ptr + here, new_k, mask=writes)
        tl.store(v_ptr + here, new_v, mask=writes)
        highest = tl.sum(q * new_k.to(tl.float32), 0)
        total = tl.full((), 1.0, tl.float32)
        out = new_v.to(tl.float32)
    else:
        stop = length
        highest = tl.full((), -float("inf"), tl.float32)
        total = tl.full((), 0.0, tl.float32)
        out = tl.zeros([COLUMNS], tl.float32)

    for first in range(0, stop, BLOCK):
        place = first + tl.arange(0, BLOCK)
        inside = place < stop
        if TRACED:
            line = tl.load(trace_ptr + row * length + place, mask=inside, other=0).to(tl.int64)
        else:
            line = (place * 0).to(tl.int64) + row // together
        seen = tl.load(segments_ptr + line * length + place, mask=inside, other=-1) == own
        there = ((line * few + lender) * length + place) * WIDTH
        mask = inside[:, None] & real[None, :]
        k = tl.load(k_ptr + there[:, None] + column[None, :], mask=mask, other=0.0)
        v = tl.load(v_ptr + there[:, None] + column[None, :], mask=mask, other=0.0)
        score = tl.sum(q[None, :] * k.to(tl.float32), 1)
        score = tl.where(seen, score, -float("inf"))
        higher = tl.maximum(highest, tl.max(score, 0))
        level = tl.where(higher == -float("inf"), 0.0, higher)
        share = tl.exp2(score - level)
        before = tl.exp2(highest - level)
        total = total * before + tl.sum(share, 0)
        out = out * before + tl.sum(share[:, None] * v.to(tl.float32), 0)
        highest = higher

    out = out / tl.where(total == 0.0, 1.0, total)
    put = out_ptr + (row * heads + head) * WIDTH + column
    tl.store(put, out.to(out_ptr.dtype.element_ty), mask=real)

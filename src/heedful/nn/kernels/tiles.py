"""What the tiles of attention have in common: loading and writing, products, and who is seen."""

import os
from typing import no_type_check

import triton
import triton.language as tl

INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")


@triton.jit
@no_type_check
def product(a, b, PRECISION: tl.constexpr):
    """a · b, added up in float32."""
    if INTERPRETED:  # Triton's interpreter multiplies bfloat16 as if it were whole numbers
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, input_precision=PRECISION)


@triton.jit
@no_type_check
def tokens(
    pointer, first, length, stride,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Vectors of BLOCK tokens, [BLOCK, COLUMNS]; zeros beyond the last."""
    at, column = first + tl.arange(0, BLOCK), tl.arange(0, COLUMNS)
    mask = (at < length)[:, None]
    if WIDTH < COLUMNS:
        mask = mask & (column < WIDTH)[None, :]
    return tl.load(pointer + at[:, None] * stride + column[None, :], mask=mask, other=0.0)


@triton.jit
@no_type_check
def put(
    pointer, x, first, length, stride,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write vectors of BLOCK tokens."""
    at, column = first + tl.arange(0, BLOCK), tl.arange(0, COLUMNS)
    mask = (at < length)[:, None]
    if WIDTH < COLUMNS:
        mask = mask & (column < WIDTH)[None, :]
    place = pointer + at[:, None] * stride + column[None, :]
    tl.store(place, x.to(pointer.dtype.element_ty), mask=mask)


@triton.jit
@no_type_check
def numbers(pointer, first, length, other, BLOCK: tl.constexpr):
    """One number for each of BLOCK tokens."""
    at = first + tl.arange(0, BLOCK)
    return tl.load(pointer + at, mask=at < length, other=other)


@triton.jit
@no_type_check
def seen(pointer, first, length, keys, BLOCK: tl.constexpr, CAUSAL: tl.constexpr):
    """Where what BLOCK queries see begins and ends; beyond the last query that is nothing."""
    at = first + tl.arange(0, BLOCK)
    start = tl.load(pointer + 2 * at, mask=at < length, other=keys)
    end = tl.load(pointer + 2 * at + 1, mask=at < length, other=0)
    if CAUSAL:
        end = tl.minimum(end, at + 1)
    return start, end


@triton.jit
@no_type_check
def seen_by(pointer, first, length, queries, BLOCK: tl.constexpr, CAUSAL: tl.constexpr):
    """Where the queries that see BLOCK keys begin and end."""
    at = first + tl.arange(0, BLOCK)
    start = tl.load(pointer + 2 * at, mask=at < length, other=queries)
    if CAUSAL:
        start = tl.maximum(start, at)
    return start, tl.load(pointer + 2 * at + 1, mask=at < length, other=0)


@triton.jit
@no_type_check
def visible(start, end, first_k, BLOCK: tl.constexpr):
    """Which queries of a tile see which of BLOCK keys.

    A key before the span is, without its sign, a very large number of places behind its start: so
    one comparison does for both ends.
    """
    behind = (first_k + tl.arange(0, BLOCK))[None, :] - start[:, None]
    return behind.to(tl.uint32, bitcast=True) < tl.maximum(end - start, 0)[:, None].to(tl.uint32)


@triton.jit
@no_type_check
def common(start, end):
    """Where what all of some spans hold begins and ends; that may be nothing."""
    return tl.max(start), tl.min(end)

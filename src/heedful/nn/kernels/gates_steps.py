"""A recurrent unit's gates at a step, and their gradients: a program a few numbers of the state."""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def after(
    opened_ptr, made_ptr, inner_ptr, before_ptr, out_ptr, size, dim,
    RENEW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    one, real, three = _places(size, dim, BLOCK)
    r = tl.sigmoid(_at(opened_ptr, three, real) + _at(made_ptr, three, real))
    z = tl.sigmoid(_at(opened_ptr, three + dim, real) + _at(made_ptr, three + dim, real))
    inner = _at(inner_ptr, one, real) + _at(made_ptr, three + 2 * dim, real)
    n = _tanh(_at(opened_ptr, three + 2 * dim, real) + r * inner)
    _put(opened_ptr, three, r, real)
    _put(opened_ptr, three + dim, z, real)
    _put(opened_ptr, three + 2 * dim, n, real)
    _put(inner_ptr, one, inner, real)
    _put(out_ptr, one, _mixed(n, _at(before_ptr, one, real), z, RENEW), real)


@triton.jit
@no_type_check
def reset(opened_ptr, made_ptr, before_ptr, out_ptr, size, dim, BLOCK: tl.constexpr):
    one, real, three = _places(size, dim, BLOCK)
    two = three - one // dim * dim  # where there are two gates
    r = tl.sigmoid(_at(opened_ptr, three, real) + _at(made_ptr, two, real))
    z = tl.sigmoid(_at(opened_ptr, three + dim, real) + _at(made_ptr, two + dim, real))
    _put(opened_ptr, three, r, real)
    _put(opened_ptr, three + dim, z, real)
    _put(out_ptr, one, r * _at(before_ptr, one, real), real)


@triton.jit
@no_type_check
def update(
    opened_ptr, made_ptr, before_ptr, out_ptr, size, dim,
    RENEW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    one, real, three = _places(size, dim, BLOCK)
    n = _tanh(_at(opened_ptr, three + 2 * dim, real) + _at(made_ptr, one, real))
    _put(opened_ptr, three + 2 * dim, n, real)
    z = _at(opened_ptr, three + dim, real)
    _put(out_ptr, one, _mixed(n, _at(before_ptr, one, real), z, RENEW), real)


@triton.jit
@no_type_check
def slopes_after(
    carried_ptr, slope_ptr, opened_ptr, inner_ptr, before_ptr, slopes_ptr, new_ptr, size, dim,
    RENEW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    one, real, three = _places(size, dim, BLOCK)
    by_z, by_n = _unmixed(
        carried_ptr, slope_ptr, opened_ptr, before_ptr, one, three, dim, real, RENEW
    )
    r = _at(opened_ptr, three, real)
    _put(slopes_ptr, three, by_n * r * _at(inner_ptr, one, real) * (1 - r), real)
    _put(slopes_ptr, three + dim, by_z, real)
    _put(slopes_ptr, three + 2 * dim, by_n * r, real)
    _put(new_ptr, one, by_n, real)


@triton.jit
@no_type_check
def slopes_update(
    carried_ptr, slope_ptr, opened_ptr, before_ptr, slopes_ptr, size, dim,
    RENEW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    one, real, three = _places(size, dim, BLOCK)
    by_z, by_n = _unmixed(
        carried_ptr, slope_ptr, opened_ptr, before_ptr, one, three, dim, real, RENEW
    )
    _put(slopes_ptr, three + dim, by_z, real)
    _put(slopes_ptr, three + 2 * dim, by_n, real)


@triton.jit
@no_type_check
def slopes_reset(
    carried_ptr, through_ptr, opened_ptr, before_ptr, slopes_ptr, size, dim, BLOCK: tl.constexpr
):
    one, real, three = _places(size, dim, BLOCK)
    r = _at(opened_ptr, three, real)
    under = _at(through_ptr, one, real) * r
    _put(carried_ptr, one, _at(carried_ptr, one, real) + under, real)
    _put(slopes_ptr, three, under * _at(before_ptr, one, real) * (1 - r), real)


@triton.jit
@no_type_check
def _places(size, dim, BLOCK: tl.constexpr):
    """Of this program's numbers: where they are in a state, whether they are, and where in the
    first of three gates."""
    one = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    return one, one < size, one + one // dim * dim * 2


@triton.jit
@no_type_check
def _mixed(n, before, z, RENEW: tl.constexpr):
    """The next state."""
    if RENEW:
        return before + z * (n - before)
    return n + z * (before - n)


@triton.jit
@no_type_check
def _unmixed(
    carried_ptr, slope_ptr, opened_ptr, before_ptr, one, three, dim, real, RENEW: tl.constexpr
):
    """Gradients by the arguments of z and n; that by the state before is carried on."""
    whole = _at(carried_ptr, one, real) + _at(slope_ptr, one, real)
    z, n = _at(opened_ptr, three + dim, real), _at(opened_ptr, three + 2 * dim, real)
    gap = _at(before_ptr, one, real) - n
    if RENEW:
        _put(carried_ptr, one, whole * (1 - z), real)
        return -whole * gap * z * (1 - z), whole * z * (1 - n * n)
    _put(carried_ptr, one, whole * z, real)
    return whole * gap * z * (1 - z), whole * (1 - z) * (1 - n * n)


@triton.jit
@no_type_check
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
@no_type_check
def _at(ptr, place, real):
    return tl.load(ptr + place, mask=real, other=0.0).to(tl.float32)


@triton.jit
@no_type_check
def _put(ptr, place, x, real):
    tl.store(ptr + place, x.to(ptr.dtype.element_ty), mask=real)

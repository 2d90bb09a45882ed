"""Large products on a GPU, by the quickest of the ways that give the very same numbers.

PyTorch makes a product by the first way that cuBLAS proposes. For some shapes another is quicker,
by a tenth or, for the scores of a large vocabulary, by a quarter. So each is tried once for a
shape. Ways whose result differs from PyTorch's in a single bit are left out: what a run learns
depends on no clock. M×K times K×N.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from heedful.nn.kernels.cublas import Product, Refused, Way, is_there, side

LARGE = 2**30  # multiplications; smaller products take less than a look at what is best for them
BETTER = 0.98  # of the usual time, or less: else the usual way stays
ROUNDS, TIMES = 3, 6  # a way's time is the middle one of so many rounds

_known: dict[tuple[Any, ...], tuple[Product, Way] | None] = {}


@torch.library.custom_op("heedful::product", mutates_args=())
def product(a: Tensor, b: Tensor) -> Tensor:
    """a·b, as `a @ b` has it."""
    out = a.new_empty(a.shape[0], b.shape[1])
    if not _by_way(out, a, b, adds=False):
        torch.mm(a, b, out=out)
    return out


@product.register_fake
def _shape(a: Tensor, b: Tensor) -> Tensor:
    return a.new_empty(a.shape[0], b.shape[1])


@torch.library.custom_op("heedful::add_product", mutates_args=("total",))
def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a·b, in the precision of `total`: what is added is not rounded to that of a and b.

    An operation of our own since PyTorch's, as of 2.11, cannot be compiled.
    """
    if not _by_way(total, a, b, adds=True):
        _add(total, a, b)


class Multiplied(torch.autograd.Function):
    """x·weightᵀ, of x [M, K] and a weight [N, K]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return product(x, weight.t())

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        dy = dy.contiguous()
        return product(dy, weight), product(dy.t(), x)


def suits_products(a: Tensor, b: Tensor) -> bool:
    """Whether these are for such products: half precision on a GPU of NVIDIA's, and large."""
    if not a.is_cuda or a.dtype != torch.bfloat16 or b.dtype != a.dtype:
        return False
    return a.numel() * b.shape[1] >= LARGE and is_there()


def _by_way(out: Tensor, a: Tensor, b: Tensor, adds: bool) -> bool:
    """Make the product by a quicker way, if there is one."""
    if not a.is_cuda or a.dtype != torch.bfloat16 or not out.is_contiguous() or not is_there():
        return False
    sides = side(a), side(b)
    if None in sides:
        return False
    key = (*a.shape, b.shape[1], *sides, out.dtype, adds, a.device)
    if key not in _known:
        if torch.cuda.is_current_stream_capturing():  # no time to look
            return False
        _known[key] = _found(out, a, b, adds)
    found = _known[key]
    if found is None:
        return False
    found[0].make(found[1], a, b, out, adds)
    return True


def _found(out: Tensor, a: Tensor, b: Tensor, adds: bool) -> tuple[Product, Way] | None:
    """The quickest way, tried on random numbers; None where that is the usual one."""
    try:
        draw = torch.Generator(a.device).manual_seed(1)
        like_a, like_b = (torch.empty_like(x).normal_(generator=draw) for x in (a, b))
        usual = torch.zeros_like(out)
        made = torch.zeros_like(out)
        asked = Product(like_a, like_b, out)

        def plain() -> None:
            _add(usual, like_a, like_b) if adds else torch.mm(like_a, like_b, out=usual)

        def same(way: Way) -> bool:
            made.zero_()
            asked.make(way, like_a, like_b, made, adds)
            return torch.equal(made, usual)

        plain()
        ways = [way for way in asked.ways() if same(way)]
        seconds = [_lasting(partial(asked.make, way, like_a, like_b, made, adds)) for way in ways]
        best = quickest(seconds, _lasting(plain))
        return None if best is None else (asked, ways[best])
    except (Refused, torch.OutOfMemoryError):
        return None


def quickest(seconds: Sequence[float], usual: float) -> int | None:
    """The number of the quickest of several; None where none is clearly better than the usual."""
    best = min(range(len(seconds)), key=lambda i: seconds[i], default=None)
    return best if best is not None and seconds[best] <= BETTER * usual else None


def _lasting(work: Callable[[], None]) -> float:
    """How long work on a GPU takes."""
    work()
    found = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(TIMES):
            work()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end))
    return sorted(found)[ROUNDS // 2]


def _add(total: Tensor, a: Tensor, b: Tensor) -> None:
    if total.dtype == a.dtype:
        torch.addmm(total, a, b, out=total)
    else:
        torch.ops.aten.addmm.dtype_out(total, a, b, total.dtype, out=total)

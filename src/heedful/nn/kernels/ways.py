"""Large products on a GPU, by the quickest of the ways that give the very same numbers.

PyTorch makes a product by the first way that cuBLAS proposes. For some shapes another is quicker,
so each is tried once for a shape. Ways whose result differs from PyTorch's in a single bit are left
out: what a run learns depends on no clock. M×K times K×N.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import register_flop_formula

from heedful.nn.kernels.cublas import BEGINS, Product, Refused, Way, is_there, side

LARGE = 2**30  # multiplications; smaller products take less than a look at what is best for them
BETTER = 0.97  # of the usual time, or less: else the usual way stays
ROUNDS = 9  # a way's time is the middle one of so many; one goes before
MOST = 100  # kinds of products that are looked at; where there are more, none of them comes often


@torch.library.custom_op("heedful::product", mutates_args=())
def product(a: Tensor, b: Tensor, bias: Tensor | None = None, rectifies: bool = False) -> Tensor:
    """a·b, as `a @ b` has it; or that plus a bias, or the rectifier of both."""
    out = a.new_empty(a.shape[0], b.shape[1])
    make(out, Asked(a, b, bias, rectifies))
    return out


@product.register_fake
def _shape(a: Tensor, b: Tensor, bias: Tensor | None = None, rectifies: bool = False) -> Tensor:
    return a.new_empty(a.shape[0], b.shape[1])


@torch.library.custom_op("heedful::add_product", mutates_args=("total",))
def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a·b, in the precision of `total`: what is added is not rounded to that of a and b.

    An operation of our own since PyTorch's, as of 2.11, cannot be compiled.
    """
    make(total, Asked(a, b, adds=True))


@register_flop_formula(torch.ops.heedful.product)
def _operations(a: Sequence[int], b: Sequence[int], *_: Any, **__: Any) -> int:
    """For those who count."""
    return 2 * math.prod(a) * b[1]


@register_flop_formula(torch.ops.heedful.add_product)
def _more_operations(total: Sequence[int], a: Sequence[int], b: Sequence[int], **_: Any) -> int:
    return _operations(a, b)


class Multiplied(torch.autograd.Function):
    """x·weightᵀ, of x [M, K] and a weight [N, K].

    Both gradients are made, whoever wants them: of what is compiled, PyTorch 2.11 says that nobody
    wants those by what an operation of our own made (pytorch/pytorch#159299).
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return product(x, weight.t())

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        dy = dy.contiguous()
        return product(dy, weight), product(dy.t(), x)


@dataclass(frozen=True, eq=False)
class Asked:
    """A product that is asked for."""

    a: Tensor
    b: Tensor
    bias: Tensor | None = None
    rectifies: bool = False
    adds: bool = False

    def usual(self, out: Tensor) -> None:
        """As PyTorch makes it."""
        a, b, bias = self.a, self.b, self.bias
        if self.adds and out.dtype == a.dtype:
            torch.addmm(out, a, b, out=out)
        elif self.adds:
            torch.ops.aten.addmm.dtype_out(out, a, b, out.dtype, out=out)
        elif bias is None:
            torch.mm(a, b, out=out)
        elif self.rectifies:
            torch._addmm_activation(bias, a, b, out=out)
        else:
            torch.addmm(bias, a, b, out=out)

    def by(self, product: Product, way: Way, out: Tensor) -> None:
        product.make(way, self.a, self.b, out, self.adds, self.bias)


_known: dict[tuple[Any, ...], tuple[Product, Way] | None] = {}


def suits_ways(a: Tensor, b: Tensor) -> bool:
    """Whether a·bᵀ is for such products: half precision on a GPU of NVIDIA's, and large. A compiled
    graph is not asked for its size: it would be bound to that."""
    if not a.is_cuda or a.dtype != torch.bfloat16 or b.dtype != a.dtype or not is_there():
        return False
    return torch.compiler.is_compiling() or a.numel() * b.shape[0] >= LARGE


def make(out: Tensor, asked: Asked) -> None:
    """Have a product in `out`, or added to it, by the quickest way."""
    known = _way(out, asked)
    if known is None:
        asked.usual(out)
    else:
        asked.by(*known, out)


def _way(out: Tensor, asked: Asked) -> tuple[Product, Way] | None:
    """The quickest one, once it was looked for; None for the usual one."""
    key = *map(_lies, (asked.a, asked.b, asked.bias, out)), asked.rectifies, asked.adds, out.device
    if key not in _known:
        if not _suits(out, asked) or len(_known) >= MOST:
            return None
        if torch.cuda.is_current_stream_capturing():  # no time to look
            return None
        _known[key] = _found(out, asked)
    return _known[key]


def _lies(x: Tensor | None) -> tuple[Any, ...] | None:
    """All that a way depends on of one matrix."""
    return None if x is None else (x.shape, x.stride(), x.dtype, x.data_ptr() % BEGINS)


def _suits(out: Tensor, asked: Asked) -> bool:
    """Whether there may be another way to make this."""
    a, b, bias = asked.a, asked.b, asked.bias
    if not suits_ways(a, b.t()):
        return False
    lying = side(a), side(b), side(out), side(out if bias is None else bias[None])
    return None not in lying and out.is_contiguous()


def _found(out: Tensor, asked: Asked) -> tuple[Product, Way] | None:
    """The quickest way, tried on random numbers; None where that is the usual one."""
    try:
        draw = torch.Generator(out.device).manual_seed(1)

        def like(x: Tensor) -> Tensor:
            return torch.empty_like(x).normal_(generator=draw)

        a, b, bias = like(asked.a), like(asked.b), None if asked.bias is None else like(asked.bias)
        trial = Asked(a, b, bias, asked.rectifies, asked.adds)
        usual, made = torch.zeros_like(out), torch.zeros_like(out)
        several = Product(a, b, out, bias is not None, asked.rectifies)

        def same(way: Way) -> bool:
            trial.by(several, way, made.zero_())
            return torch.equal(made, usual)

        trial.usual(usual)
        ways = [way for way in several.ways() if same(way)]
        works = [partial(trial.by, several, way, made) for way in ways]
        *times, plain = lasting([*works, partial(trial.usual, usual)], out.device)
        best = quickest(times, plain)
        return None if best is None else (several, ways[best])
    except (Refused, torch.OutOfMemoryError):
        return None


def quickest(times: Sequence[float], usual: float) -> int | None:
    """The number of the quickest of several; None where none is clearly better than the usual."""
    best = min(range(len(times)), key=lambda i: times[i], default=None)
    return best if best is not None and times[best] <= BETTER * usual else None


def lasting(works: Sequence[Callable[[], None]], device: torch.device) -> list[float]:
    """How long each work on a GPU takes, in milliseconds. They take turns, since the warmer a GPU
    is the slower it is; and find nothing in its cache, as in a step most of it is from memory."""
    cache = torch.cuda.get_device_properties(device).L2_cache_size
    others = torch.empty(2 * cache, dtype=torch.uint8, device=device)
    found: list[list[float]] = [[] for _ in works]
    for _ in range(1 + ROUNDS):
        for work, lasted in zip(works, found, strict=True):
            others.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            work()
            end.record()
            end.synchronize()
            lasted.append(begin.elapsed_time(end))
    return [sorted(lasted[1:])[ROUNDS // 2] for lasted in found]

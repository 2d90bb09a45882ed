"""Products of matrices by whichever library, and whichever way of it, is the quickest.

On a CPU, PyTorch has MKL make those in single precision, which takes processors of other makers for
older ones than they are: on AMD's since Zen 5, oneDNN, which PyTorch has too, makes them in less
than half the time. It takes longer to be asked, so it is asked for large ones. On a GPU, large ones
in half precision are made as kernels/ways.py finds best. N tokens, I inside, O outside.
"""

import math
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.utils.flop_counter import flop_registry, register_flop_formula

from heedful.nn.kernels import ways
from heedful.nn.processor import processor

LARGE = 2**21  # multiplications of a product that is worth it
AMD = "AuthenticAMD"
ZEN_5 = 26  # AMD's number for the first of its families that compute 512 bits at once


def times(
    x: Float[Tensor, "*N I"],
    weight: Float[Tensor, "O I"],
    bias: Float[Tensor, " O"] | None = None,
) -> Float[Tensor, "*N O"]:
    """`F.linear`, with gradients."""
    learns, flat = torch.is_grad_enabled(), x.reshape(-1, x.shape[-1])
    if learns and bias is None and ways.suits_ways(x, weight):
        y: Tensor = ways.Multiplied.apply(flat, weight)
    elif not _pays(x, weight):
        return F.linear(x, weight, bias)
    elif not learns:
        return _by_onednn(x, weight, bias)
    else:
        y = Product.apply(flat, weight, bias, x.dtype)
    return y.view(*x.shape[:-1], len(weight))


def product(
    a: Float[Tensor, "N I"], b: Float[Tensor, "O I"], bias: Float[Tensor, " O"] | None = None
) -> Float[Tensor, "N O"]:
    """As `times`, where nobody asks for gradients. `a` and `b` may be transposes of what is
    stored."""
    if ways.suits_ways(a, b):
        said: Tensor = ways.product(a, b.t(), bias)
        return said
    if not _pays(a, b):
        return F.linear(a, b, bias)
    if bias is None and _lies_across(a) and len(a) > len(b):  # the larger one is better the second
        return _by_onednn(b, a).t()
    return _by_onednn(a, b, bias)


def add_product(
    total: Float[Tensor, "N O"], a: Float[Tensor, "N I"], b: Float[Tensor, "O I"]
) -> None:
    """total += a @ b.T, where nobody asks for gradients."""
    if a.is_cuda and a.dtype != total.dtype:  # added as one: what is added is not rounded first
        ways.add_product(total, a, b.t())
    elif _pays(a, b) or a.dtype != total.dtype:
        total += product(a, b)
    else:
        total.addmm_(a, b.t())


def plus_times(
    total: Float[Tensor, "N O"], x: Float[Tensor, "N I"], weight: Float[Tensor, "O I"]
) -> Float[Tensor, "N O"]:
    """total + `times`, with gradients."""
    if _pays(x, weight):
        return total + times(x, weight)
    return torch.addmm(total, x, weight.t())


class Linear(nn.Linear):
    """PyTorch's layer, by the quicker products."""

    def forward(self, x: Float[Tensor, "*N I"]) -> Float[Tensor, "*N O"]:
        return times(x, self.weight, self.bias)


class Product(torch.autograd.Function):
    """x times the transposed weight, and the gradients by both: three products in `dtype`. What is
    added to it is not rounded."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype
    ) -> Tensor:
        read, by = x.to(dtype), weight.to(dtype)
        ctx.save_for_backward(read, by)
        added = bias if dtype is x.dtype else None
        y = product(read, by, added).to(x.dtype)
        return y if added is bias or bias is None else y.add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        by = slope.to(x.dtype)
        wants_x, wants_weight, wants_bias, _ = ctx.needs_input_grad
        return (
            product(by, weight.t()).to(slope.dtype) if wants_x else None,
            product(by.t(), x.t()).to(slope.dtype) if wants_weight else None,
            slope.sum(0) if wants_bias else None,
            None,
        )


def are_quicker(x: Tensor) -> bool:
    """Whether large products of tensors like this one are quicker by oneDNN."""
    if x.device.type != "cpu" or x.dtype is not torch.float32 or torch.compiler.is_compiling():
        return False
    return held_back() and has_onednn() and not torch.is_autocast_enabled("cpu")


def _pays(a: Tensor, b: Tensor) -> bool:
    """Whether this product is. A compiled graph is not asked for its size: it would be bound to
    that."""
    if torch.compiler.is_compiling():
        return False
    return a.numel() * b.shape[0] >= LARGE and are_quicker(a)


def _lies_across(a: Tensor) -> bool:
    return a.stride(0) == 1 and a.shape[1] > 1


def _by_onednn(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    if not b.is_contiguous() and not b.t().is_contiguous():  # a thousand times as slow
        b = b.t().contiguous().t() if _lies_across(b) else b.contiguous()
    said: Tensor = torch.ops.mkldnn._linear_pointwise(a, b, bias, "none", [], "")
    return said


@cache
def held_back() -> bool:
    """Whether PyTorch's own products leave half of what this processor can. A measurement would say
    so too, and now and then otherwise: then a run that is resumed would not go on as it was."""
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    here = processor()
    family = here.get("cpu family", "")
    new = here.get("vendor_id") == AMD and family.isdigit() and int(family) >= ZEN_5
    return new and wide and torch.backends.mkl.is_available()


@cache
def has_onednn() -> bool:
    """Whether this PyTorch has the way to oneDNN, which is not a public one; for transposes too."""
    a, b = torch.arange(8.0).view(2, 4), torch.arange(12.0).view(4, 3)
    try:
        said = _by_onednn(a, b.t())
    except (AttributeError, RuntimeError):
        return False
    operation = torch.ops.mkldnn._linear_pointwise
    if operation not in flop_registry:  # for those who count
        register_flop_formula(operation)(_operations)
    return torch.equal(said, a @ b)


def _operations(a: torch.Size, b: torch.Size, *_: Any, **__: Any) -> int:
    return 2 * math.prod(a) * b[0]

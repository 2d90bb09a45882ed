"""A model whose weights lie as decoding on a CPU wants them, and lighter where that is faster.

A step of decoding multiplies a few rows with every weight. PyTorch lays a matrix out anew for each
product; here it is done once. In bf16, products and nothing else, it is half the bytes too, and
what comes of it differs from fp32 in the third digit of a log-probability. In whole numbers of
eight bits (nn/whole.py) it is a quarter, and differs in the second.
"""

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.decoding.job import Known, Precision
from heedful.errors import UsageError
from heedful.modalities.heads import AdaptiveHead
from heedful.models.base import Model
from heedful.nn.low import has_low_products, relay
from heedful.nn.products import held_back
from heedful.nn.whole import ROWS, WholeLinear, has_whole_products

WIDE = 256  # narrower models lose more by casting than they gain
LARGE = 2**17  # smaller matrices gain nothing by being laid out beforehand
SMALLER = 2**14  # the same, where PyTorch's own products leave half of the processor idle
FEW = 2**20  # multiplications, below which those products are the quicker ones there too
WORTH = 2**14  # smaller ones gain nothing by eight bits


def make_ready(model: Model, precision: Precision, device: torch.device | str) -> Known:
    """Make a model ready in place, in the precision that is asked for or that `auto` finds to be
    faster and as good; which that is."""
    place = torch.device(device)
    if precision == "auto":
        precision = "bf16" if _pays(model, place) else "fp32"
    if precision == "int8":
        check_whole(place)
    known, packs = precision, place.type == "cpu" and can_pack()
    relay(model, lambda layer: _ready(layer.weight, layer.bias, known, packs) or layer)
    if not isinstance(model.head, AdaptiveHead):  # its layers are ready already
        ready = _ready(model.head.embedding.weight, None, known, packs)
        model.add_module("head", ready or model.head)
    return known


def check_whole(device: torch.device) -> None:
    """Say where there are no products of eight bits."""
    if device.type != "cpu":
        raise UsageError(
            f"precision int8 is for decoding on a CPU, and this is on {device.type}. "
            "Use fp32 or bf16 there, or --device cpu"
        )
    if not has_whole_products():
        raise UsageError(
            "precision int8 needs a processor that adds up products of 8-bit numbers without an "
            "error (VNNI), and a PyTorch with oneDNN: not so here. Use fp32, or bf16"
        )


class LightLinear(nn.Module):
    """A linear layer with weights in bf16, from and to vectors of any precision."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("weight", weight.detach().to(torch.bfloat16))
        self.register_buffer("bias", None if bias is None else bias.detach().to(torch.bfloat16))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x.to(torch.bfloat16), self.weight, self.bias).to(x.dtype)


class PackedLinear(nn.Module):
    """A linear layer with weights laid out for products on a CPU, from and to vectors of any
    precision."""

    def __init__(self, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> None:
        super().__init__()
        ready = weight.detach().to(dtype)
        self.packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(ready, ROWS)
        self.bias = None if bias is None else bias.detach().to(dtype)
        self.dtype = dtype
        self.plain = ready if ready.numel() < LARGE else None  # for a few vectors

    def forward(self, x: Tensor) -> Tensor:
        read = x.to(self.dtype)
        if self.plain is not None and len(self.plain) * x.numel() < FEW:
            return F.linear(read, self.plain, self.bias).to(x.dtype)
        said: Tensor = torch.ops.mkldnn._linear_pointwise(
            read, self.packed, self.bias, "none", [], ""
        )
        return said.to(x.dtype)


@cache
def can_pack() -> bool:
    """Whether this PyTorch lays weights out beforehand; its way to is not a public one."""
    weight, x = torch.arange(12.0).view(3, 4), torch.ones(2, 4)
    try:
        said = PackedLinear(weight, None, torch.float32)(x)
    except (AttributeError, RuntimeError):
        return False
    return torch.allclose(said, F.linear(x, weight))


def _ready(weight: Tensor, bias: Tensor | None, precision: Known, packs: bool) -> nn.Module | None:
    """The layer to multiply by; None where the usual one does."""
    if precision == "int8" and weight.numel() >= WORTH:
        return WholeLinear(weight, bias)
    low = precision == "bf16"
    least = SMALLER if held_back() and not low else LARGE
    if packs and weight.numel() >= least:
        return PackedLinear(weight, bias, torch.bfloat16 if low else torch.float32)
    return LightLinear(weight, bias) if low else None


def _pays(model: Model, device: torch.device) -> bool:
    """Whether this processor multiplies in bf16, and the model is wide enough for it to matter."""
    return device.type == "cpu" and model.config.dim >= WIDE and has_low_products()

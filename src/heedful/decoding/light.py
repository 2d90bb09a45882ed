"""A model with lighter weights, for decoding on a CPU: products in bf16, all else in fp32.

A step of decoding reads every weight for a few rows, so half the bytes and the processor's bf16
products are most of what there is to gain. What comes of it differs from fp32 in the third digit of
a log-probability.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.modalities.heads import AdaptiveHead
from heedful.models.base import Model
from heedful.nn.low import has_low_products, relay

Precision = Literal["auto", "fp32", "bf16"]
WIDE = 256  # narrower models lose more by casting than they gain


def lighten(model: Model, precision: Precision, device: torch.device | str) -> bool:
    """Lighten a model in place, if that is asked for or `auto` finds it faster; whether it was."""
    if precision == "fp32" or (precision == "auto" and not _pays(model, torch.device(device))):
        return False
    relay(model, lambda layer: LightLinear(layer.weight, layer.bias))
    if not isinstance(model.head, AdaptiveHead):  # its layers are light already
        model.add_module("head", LightLinear(model.head.embedding.weight))
    return True


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


def _pays(model: Model, device: torch.device) -> bool:
    """Whether this processor multiplies in bf16, and the model is wide enough for it to matter."""
    return device.type == "cpu" and model.config.dim >= WIDE and has_low_products()

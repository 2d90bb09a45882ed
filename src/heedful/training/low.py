"""Computing in bf16: when, and how a CPU does it.

A GPU computes all of a step in bf16 (`Twin`). A CPU gains by the products alone: what is done to
vectors one by one, and attention, it does in fp32 as fast or faster. So weights, gradients and
vectors are as they always are, and only linear layers and the softmax multiply in bf16.
"""

import copy

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.modalities.symbols import Head
from heedful.models.base import Model
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss
from heedful.nn.low import LowLinear, has_low_products, relay
from heedful.presets.base import Preset

WIDE = 128  # narrower models lose on a CPU by rounding what they gain by products


def is_low(preset: Preset, device: torch.device) -> bool:
    """Whether to compute in bf16: `auto` does on a GPU that has it, and for products on a CPU that
    has those, if the model is wide enough to gain by it."""
    if preset.training.precision != "auto":
        return preset.training.precision == "bf16"
    if device.type == "cpu":
        return preset.model.dim >= WIDE and has_low_products()
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def with_low_products(model: Model) -> Model:
    """A model that has the very weights of another, and multiplies in bf16."""
    kept = [*model.parameters(), *model.buffers()]
    low = copy.deepcopy(model, {id(tensor): tensor for tensor in kept})
    relay(low, LowLinear)
    if type(low.head) is Head:  # others look at few words, or have layers of their own
        low.head = LowHead(low.head.embedding, low.head.smoothing)
    return low


class LowHead(Head):
    """A head whose scores and their gradients are products in bf16."""

    def loss(
        self,
        x: Float[Tensor, "B L D"],
        ids: Int[Tensor, "B L"],
        at: Layout,
        words: Int[Tensor, "1 C"] | None = None,
    ) -> Loss:
        return super().loss(x.to(torch.bfloat16), ids, at, words)

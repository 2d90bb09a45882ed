"""How weights begin."""

import torch
from torch import Tensor, nn

from heedful.nn.products import Linear


@torch.no_grad()
def xavier(weight: Tensor, parts: int = 1) -> None:
    """Xavier's uniform draw; `parts` matrices stacked in one are drawn each by its own size."""
    for part in weight.chunk(parts):
        nn.init.xavier_uniform_(part)


def linear(inside: int, outside: int, bias: bool = True, parts: int = 1) -> Linear:
    """A linear layer that begins as in the Transformer: Xavier's weights, zero bias."""
    layer = Linear(inside, outside, bias=bias)
    xavier(layer.weight, parts)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer

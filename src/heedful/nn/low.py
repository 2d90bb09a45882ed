"""Products in bf16, and all else in fp32: for processors whose bf16 products are the faster ones.

Weights stay as they are, and so do sums, norms and what is passed on between layers. What is
multiplied is rounded to bf16, on the way forward and on the way back. N tokens, I inside, O
outside.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.nn.products import Product


def has_low_products() -> bool:
    """Whether this machine's processor multiplies in bf16."""
    known = (
        getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile")
    )
    return any(has() for has in known if has is not None)


def relay(model: nn.Module, lay: Callable[[nn.Linear], nn.Module]) -> None:
    """Put another layer in the place of every linear one."""
    for module in list(model.modules()):
        for name, part in module.named_children():
            if isinstance(part, nn.Linear):
                setattr(module, name, lay(part))


class LowLinear(nn.Module):
    """The same layer with the same weights, multiplied in bf16."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x: Float[Tensor, "*N I"]) -> Float[Tensor, "*N O"]:
        flat = x.reshape(-1, x.shape[-1])
        y: Tensor = Product.apply(flat, self.weight, self.bias, torch.bfloat16)
        return y.view(*x.shape[:-1], len(self.weight))

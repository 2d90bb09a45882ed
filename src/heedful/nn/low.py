"""Products in bf16, and all else in fp32: for processors whose bf16 products are the faster ones.

Weights stay as they are, and so do sums, norms and what is passed on between layers. What is
multiplied is rounded to bf16, on the way forward and on the way back. N tokens, I inside, O
outside.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn


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
        y: Tensor = _Product.apply(x.reshape(-1, x.shape[-1]), self.weight, self.bias)
        return y.view(*x.shape[:-1], -1)


class _Product(torch.autograd.Function):
    """x times the transposed weight, and the gradients by both: three products in bf16. What is
    added to it is not rounded."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        low, low_weight = x.to(torch.bfloat16), weight.to(torch.bfloat16)
        ctx.save_for_backward(low, low_weight)
        y = (low @ low_weight.T).to(x.dtype)
        return y if bias is None else y.add_(bias)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        (by,) = slopes
        low = by.to(torch.bfloat16)
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        return (
            (low @ weight).to(by.dtype) if wants_x else None,
            (low.T @ x).to(by.dtype) if wants_weight else None,
            by.sum(0) if wants_bias else None,
        )

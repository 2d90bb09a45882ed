"""Layer norm: each token's channels moved to mean 0 and variance 1, then scaled and shifted.

Ba, Kiros and Hinton, "Layer Normalization", 2016, https://arxiv.org/abs/1607.06450. On a GPU its
gradients are made in one pass, by a kernel of our own. D model.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.nn.kernels.blocks import missing


class LayerNorm(nn.LayerNorm):
    """PyTorch's, with faster gradients where there is a GPU and Triton."""

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__(dim, eps=eps)

    def forward(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N D"]:
        if x.is_cuda and torch.is_grad_enabled() and x.dtype == self.weight.dtype and not missing():
            normed: Tensor = Normed.apply(x, self.weight, self.bias, self.eps)
            return normed
        return super().forward(x)


class Normed(torch.autograd.Function):
    """The norm of x by weight and bias, whose gradients our kernel makes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> Tensor:
        y, mean, scale = torch.native_layer_norm(x, x.shape[-1:], weight, bias, epsilon)
        ctx.save_for_backward(x, mean, scale, weight)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        from heedful.nn.kernels.norm_slopes import norm_slopes, programs

        x, mean, scale, weight = ctx.saved_tensors
        rows = (t.reshape(-1, x.shape[-1]).contiguous() for t in (dy, x))
        dx, dweight, dbias = norm_slopes(
            *rows, mean.flatten(), scale.flatten(), weight, programs(x.device)
        )
        return dx.view_as(x), dweight, dbias, None

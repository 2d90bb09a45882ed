"""Layer norm: each token's channels moved to mean 0 and variance 1, then scaled and shifted.

Ba, Kiros and Hinton, "Layer Normalization", 2016, https://arxiv.org/abs/1607.06450. On a GPU
training has kernels of our own for it: one for the norm of a sum, and one for all gradients.
D model.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.kernels.blocks import suits_kernels


class LayerNorm(nn.LayerNorm):
    """PyTorch's, with faster gradients where there is a GPU and Triton."""

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__(dim, eps=eps)

    def forward(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N D"]:
        if self.by_kernel(x):
            normed: Tensor = Normed.apply(x, self.weight, self.bias, self.eps)
            return normed
        return super().forward(x)

    def of_sum(
        self,
        x: Float[Tensor, "*N D"],
        y: Float[Tensor, "*N D"],
        dropout: float = 0.0,
        seed: Int[Tensor, ""] | None = None,
    ) -> tuple[Float[Tensor, "*N D"], Float[Tensor, "*N D"]]:
        """x + y and the norm of that, `dropout` of y forgotten at random: by this seed where there
        is one and a kernel, else as PyTorch draws."""
        if self.by_kernel(x) and x.dtype == y.dtype and (seed is not None or not dropout):
            found: tuple[Tensor, Tensor] = NormedSum.apply(
                x, y, seed if dropout else None, self.weight, self.bias, self.eps, dropout
            )
            return found
        total = x + (F.dropout(y, dropout) if dropout else y)
        return total, self(total)

    def by_kernel(self, x: Tensor) -> bool:
        """Whether our kernels are for this."""
        return suits_kernels(x) and x.dtype == self.weight.dtype and torch.is_grad_enabled()


class Normed(torch.autograd.Function):
    """The norm of x by weight and bias, whose gradients our kernel makes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> Tensor:
        y, mean, scale = torch.native_layer_norm(x, x.shape[-1:], weight, bias, epsilon)
        ctx.save_for_backward(x, mean.flatten(), scale.flatten(), weight, None)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        dx, _, dweight, dbias = _slopes(dy, None, ctx.saved_tensors, 0.0)
        return dx, dweight, dbias, None


class NormedSum(torch.autograd.Function):
    """x + y and the norm of that, both ways by kernels."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        y: Tensor,
        seed: Tensor | None,
        weight: Tensor,
        bias: Tensor,
        epsilon: float,
        dropout: float,
    ) -> tuple[Tensor, Tensor]:
        from heedful.nn.kernels.norm_of_sum import norm_of_sum

        total, out, mean, scale = norm_of_sum(
            _rows(x), _rows(y), seed, weight, bias, epsilon, dropout
        )
        ctx.save_for_backward(total, mean, scale, weight, seed)
        ctx.dropout = dropout
        return total.view(x.shape), out.view(x.shape)

    @staticmethod
    def backward(ctx: Any, dtotal: Tensor, dout: Tensor) -> tuple[Tensor | None, ...]:
        dx, dy, dweight, dbias = _slopes(dout, dtotal, ctx.saved_tensors, ctx.dropout)
        return dx, dy.view(dx.shape) if ctx.dropout else dx, None, dweight, dbias, None, None


def _slopes(
    dy: Tensor, more: Tensor | None, saved: Sequence[Any], dropout: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients by x, by what was added to it, by weight and by bias, of what was saved: x, each
    row's mean and scale, the weight, and the seed of dropout or None. `more` is what else x has."""
    from heedful.nn.kernels.norm_slopes import norm_slopes, programs

    x, mean, scale, weight, seed = saved
    more = None if more is None else _rows(more)
    dx, *others = norm_slopes(
        _rows(dy), more, _rows(x), seed, mean, scale, weight, dropout, programs(x.device)
    )
    return dx.view(dy.shape), *others


def _rows(x: Float[Tensor, "*N D"]) -> Float[Tensor, "R D"]:
    """A row a token, in one piece."""
    return x.reshape(-1, x.shape[-1]).contiguous()


def seeds(count: int, like: Tensor) -> list[Tensor]:
    """As many, for dropout by kernels on the device of `like`."""
    return list(torch.randint(2**62, (count,), device=like.device).unbind())

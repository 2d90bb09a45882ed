"""The feed-forward part of a Transformer's layer. B batch, L length, D model."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.initial import linear
from heedful.nn.kernels.blocks import suits_kernels


class FeedForward(nn.Module):
    """max(0, xW₁ + b₁)W₂ + b₂ (Vaswani et al. 2017, eq. 2), with dropout after the rectifier."""

    def __init__(self, dim: int, ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.inner = linear(dim, ff)
        self.outer = linear(ff, dim)
        self.dropout = dropout

    def forward(self, x: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        if self.by_kernel(x):
            from heedful.nn.kernels.rectified import FedForward

            first, last = self.inner, self.outer
            weights = first.weight, first.bias, last.weight, last.bias
            y: Tensor = FedForward.apply(x.flatten(0, -2), *weights)
            return y.view_as(x)
        inner = F.relu(self.inner(x), inplace=not torch.is_grad_enabled())
        return self.outer(F.dropout(inner, self.dropout) if self.training else inner)

    def by_kernel(self, x: Tensor) -> bool:
        """Whether a kernel of ours is for this: where a GPU learns in half precision."""
        learns = torch.is_grad_enabled() and not (self.training and self.dropout)
        if not learns or not suits_kernels(x) or x.dtype != self.inner.weight.dtype:
            return False
        from heedful.nn.kernels.rectified import copies_tiles, fits

        return copies_tiles() and fits(x.shape[-1], self.inner.out_features, x.dtype)

    def step(self, x: Float[Tensor, "B 1 D"]) -> Float[Tensor, "B 1 D"]:
        """As `forward`, for a token a row where nobody learns: the rectifier with the product."""
        inner = self.inner
        return self.outer(torch._addmm_activation(inner.bias, x[:, 0], inner.weight.t())[:, None])

"""The feed-forward part of a Transformer's layer. B batch, L length, D model."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.initial import linear


class FeedForward(nn.Module):
    """max(0, xW₁ + b₁)W₂ + b₂ (Vaswani et al. 2017, eq. 2), with dropout after the rectifier."""

    def __init__(self, dim: int, ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.inner = linear(dim, ff)
        self.outer = linear(ff, dim)
        self.dropout = dropout

    def forward(self, x: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        inner = F.relu(self.inner(x), inplace=not torch.is_grad_enabled())
        return self.outer(F.dropout(inner, self.dropout) if self.training else inner)

    def step(self, x: Float[Tensor, "B 1 D"]) -> Float[Tensor, "B 1 D"]:
        """As `forward`, for a token a row where nobody learns: the rectifier with the product."""
        inner = self.inner
        return self.outer(torch._addmm_activation(inner.bias, x[:, 0], inner.weight.t())[:, None])

"""Adam: steps scaled by running means of the gradient and of its square.

Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015,
https://arxiv.org/abs/1412.6980. The defaults are those of "Attention Is All You Need", section 5.3.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch.nn import Parameter

from heedful.optim.base import Optim


@dataclass(frozen=True, kw_only=True)
class Adam(Optim, kind="adam"):
    """Adam; with weight decay it is AdamW (the decay does not pass through the moments)."""

    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-9
    weight_decay: float = 0.0

    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        return torch.optim.AdamW(
            list(parameters),
            lr=0.0,
            betas=self.betas,
            eps=self.eps,
            weight_decay=self.weight_decay,
            fused=True,  # one pass over each tensor instead of a dozen, on a CPU as on a GPU
        )

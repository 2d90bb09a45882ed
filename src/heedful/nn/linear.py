"""A linear layer. D model."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.nn.kernels.products import Multiplied, suits_products


class Linear(nn.Linear):
    """PyTorch's; where a GPU learns, large products are made by the quickest way there is."""

    def forward(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N E"]:
        learns = torch.is_grad_enabled()
        if self.bias is None and learns and suits_products(x, self.weight.t()):
            made: Tensor = Multiplied.apply(x.flatten(0, -2), self.weight)
            return made.view(*x.shape[:-1], -1)
        return super().forward(x)

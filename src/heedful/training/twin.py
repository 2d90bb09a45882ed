"""A model in half precision to compute with, beside the one whose weights are kept.

Weights change by less than bf16 can tell, so they and their optimiser stay in fp32. What is
computed from them, vectors between layers and their gradients too, is in bf16: half the memory to
move, and the fast half of the matrix units.
"""

import copy

import torch
from torch import Tensor

from heedful.models.base import Model


class Twin:
    """A copy of a model with weights in bf16. Its gradients come to the fp32 ones by `add_to`."""

    def __init__(self, model: Model) -> None:
        self.weights: list[Tensor] = [p for p in model.parameters() if p.requires_grad]
        self.model = copy.deepcopy(model)
        self.low = [p for p in self.model.parameters() if p.requires_grad]
        for parameter in self.model.parameters():
            parameter.data = parameter.data.to(torch.bfloat16)
        self.gradient = share_gradient(self.low)

    @torch.no_grad()
    def refresh(self) -> None:
        """Take the weights over, rounded."""
        torch._foreach_copy_([*self.low], self.weights)

    def add_to(self, gradient: Tensor) -> None:
        """Move the gradient there, so that what is added up of several parts is added in fp32."""
        gradient += self.gradient
        self.gradient.zero_()


def share_gradient(parameters: list[torch.nn.Parameter]) -> Tensor:
    """Make every parameter's gradient a view of one long tensor, and give that tensor.

    So zeroing, adding over processes, its norm and clipping are each one operation.
    """
    whole = torch.zeros(
        sum(p.numel() for p in parameters), dtype=parameters[0].dtype, device=parameters[0].device
    )
    begin = 0
    for parameter in parameters:
        parameter.grad = whole[begin : begin + parameter.numel()].view_as(parameter)
        begin += parameter.numel()
    return whole

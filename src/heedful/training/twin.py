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
    """A copy of a model with weights in bf16. Its gradients come to the fp32 ones by `move_to`."""

    def __init__(self, model: Model) -> None:
        self.weights: list[Tensor] = [p for p in model.parameters() if p.requires_grad]
        self.model = copy.deepcopy(model)
        self.low = [p for p in self.model.parameters() if p.requires_grad]
        for parameter in self.model.parameters():
            parameter.data = parameter.data.to(torch.bfloat16)

    @torch.no_grad()
    def refresh(self) -> None:
        """Take the weights over, rounded."""
        torch._foreach_copy_([*self.low], self.weights)

    def move_to(self, gradient: Tensor) -> None:
        """Have the gradient there, in fp32, and none here.

        It is made anew each time and collected all at once: who adds it to zeros as it comes does
        so weight by weight.
        """
        found = [
            (into, p.grad) for into, p in zip(shares(gradient, self.low), self.low, strict=True)
        ]
        torch._foreach_copy_(
            [into for into, slope in found if slope is not None],
            [slope for _, slope in found if slope is not None],
        )
        for into in (into for into, slope in found if slope is None):
            into.zero_()
        self.forget()

    def add_to(self, gradient: Tensor) -> None:
        """As `move_to`, added to what is there: of several parts all is added in fp32."""
        moved = torch.empty_like(gradient)
        self.move_to(moved)
        gradient += moved

    def forget(self) -> None:
        """Have no gradient."""
        for parameter in self.low:
            parameter.grad = None


def share_gradient(parameters: list[torch.nn.Parameter]) -> Tensor:
    """Make every parameter's gradient a view of one long tensor, and give that tensor.

    So zeroing, adding over processes, its norm and clipping are each one operation.
    """
    whole = torch.zeros(
        sum(p.numel() for p in parameters), dtype=parameters[0].dtype, device=parameters[0].device
    )
    for parameter, share in zip(parameters, shares(whole, parameters), strict=True):
        parameter.grad = share
    return whole


def shares(whole: Tensor, parameters: list[torch.nn.Parameter]) -> list[Tensor]:
    """Each parameter's part of a tensor that is as long as all of them, in its shape."""
    parts = whole.split([p.numel() for p in parameters])
    return [part.view_as(p) for part, p in zip(parts, parameters, strict=True)]

"""Linear layers in whole numbers of eight bits, for decoding on a CPU that multiplies them.

A row of weights is rounded once, by a scale of its own. What is read is rounded as it comes, each
vector by its own scale, so that what becomes of a word depends on none beside it. Products are
added up without an error. What is put out is fp32, and so is all between the layers.
N tokens, I inside, O outside.
"""

from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

MOST = 127  # the largest number of eight bits with a sign
ZERO = 128  # what 0 is called where numbers have none
LEAST = 1e-30  # of a scale: a vector of zeros has one too
ROWS = 128  # that are multiplied at a time, about: a hint for the layout


class WholeLinear(nn.Module):
    """A linear layer with weights of eight bits, from and to vectors in full precision."""

    def __init__(self, weight: Float[Tensor, "O I"], bias: Float[Tensor, " O"] | None) -> None:
        super().__init__()
        outside, inside = weight.shape
        whole, scale = rounded(weight.detach().float())
        self.outside = outside
        self.packed: Tensor = torch.ops.onednn.qlinear_prepack(whole, [ROWS, inside])
        self.scale = scale[:, 0].contiguous()
        self.zeros = torch.zeros(outside, dtype=torch.int32)
        self.bias = None if bias is None else bias.detach().float()

    def forward(self, x: Float[Tensor, "*N I"]) -> Float[Tensor, "*N O"]:
        shape = *x.shape[:-1], self.outside
        whole, scale = rounded(x.reshape(-1, x.shape[-1]).float())
        # Without a sign and moved by as much as one: only so the library multiplies quickly.
        read = whole.view(torch.uint8).bitwise_xor_(ZERO)
        said: Tensor = torch.ops.onednn.qlinear_pointwise(
            read, 1.0, ZERO, self.packed, self.scale, self.zeros,
            None, 1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        said = said.mul_(scale) if self.bias is None else torch.addcmul(self.bias, said, scale)
        return said.view(shape).to(x.dtype)


def rounded(x: Float[Tensor, "N I"]) -> tuple[Int[Tensor, "N I"], Float[Tensor, "N 1"]]:
    """Whole numbers from -127 to 127, and by what each row is to be multiplied to be `x` again,
    about."""
    scale = x.abs().amax(1, keepdim=True).div_(MOST).clamp_(min=LEAST)
    return (x / scale).round_().to(torch.int8), scale


@cache
def has_whole_products() -> bool:
    """Whether this machine's processor multiplies eight bits without an error, and this PyTorch has
    the way to; it is not a public one. Processors without VNNI add up in sixteen bits, which the
    largest numbers exceed."""
    weight = torch.full((16, 64), float(MOST))
    weight[::2] *= -1
    x = torch.full((8, 64), float(MOST))
    x[::2, ::2] = 0
    try:
        said = WholeLinear(weight, None)(x)
    except (AttributeError, RuntimeError):
        return False
    return torch.allclose(said, F.linear(x, weight))

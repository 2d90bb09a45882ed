"""Maxout: of several linear functions, the largest.

Goodfellow, Warde-Farley, Mirza, Courville and Bengio, "Maxout Networks", ICML 2013,
https://arxiv.org/abs/1302.4389. D in, M out.
"""

from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.nn.initial import linear


class Maxout(nn.Module):
    """Each of `outside` numbers is the largest of `pieces` linear functions of the input."""

    def __init__(self, inside: int, outside: int, pieces: int = 2) -> None:
        super().__init__()
        if outside < 1 or pieces < 1:
            raise UsageError(
                f"maxout takes 1 unit or more of 1 piece or more, got {outside} and {pieces}"
            )
        self.pieces = pieces
        self.linear = linear(inside, outside * pieces)

    def forward(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N M"]:
        return self.linear(x).unflatten(-1, (-1, self.pieces)).amax(-1)

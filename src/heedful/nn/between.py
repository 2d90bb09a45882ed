"""Attention between two texts: each word looks at the words of the other.

Both stand in one row, and the layout of each has the other's tokens as padding. B batch, L length,
D model.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.nn.layout import Layout
from heedful.nn.summaries import belonging
from heedful.nn.telling import BETWEEN, Telling


class Between(Telling):
    """For each word what it finds in the other text, by softmax over dot products; 0 where there
    is no other."""

    kind = BETWEEN

    def forward(
        self, x: Float[Tensor, "B L D"], first: Layout, second: Layout
    ) -> Float[Tensor, "B L D"]:
        other = belonging(second, first) | belonging(first, second)
        scores = (x @ x.mT).masked_fill(~other, torch.finfo(x.dtype).min)
        weights = scores.softmax(2).masked_fill(~other, 0.0)
        if self.note is not None:
            self.noted(weights[:, None], _both(first, second))
        return weights @ x


def _both(first: Layout, second: Layout) -> Layout:
    """Where the tokens of both stand, each in its own text."""
    return Layout(first.positions + second.positions, first.segments + second.segments)

"""Encoders of recurrent layers: read forwards, from the end, or both ways at once.

B batch, L length, D what is read, H what is put out.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.nn.cells import Cell
from heedful.nn.layout import Layout
from heedful.nn.recurrent import Bidirectional, Dropout, Recurrent, backwards
from heedful.nn.states import Recalled, Table

Reading = Literal["forward", "backward", "both", "first_both"]
"""From the first word on; from the last; both ways in every layer; or only in the first."""


class RecurrentEncoder(nn.Module):
    """Recurrent layers over a source. What is put out stands where its token stands, whichever way
    it was read; what is remembered is the state after the token that was read last."""

    def __init__(
        self,
        cell: Cell,
        inside: int,
        dim: int,
        layers: int,
        reading: Reading = "forward",
        *,
        dropout: float = 0.0,
        one_mask: bool = False,
        residual_from: int = 0,
    ) -> None:
        super().__init__()
        if layers < 1:
            raise UsageError(f"a recurrent network must have 1 layer or more, got {layers}")
        self.reading, self.residual_from = reading, residual_from
        self.dropout = Dropout(dropout, one_mask)
        parts: list[nn.Module] = []
        widths: list[int] = []
        for number in range(layers):
            both = reading == "both" or (reading == "first_both" and number == 0)
            read = widths[-1] if number else inside
            parts.append((Bidirectional if both else Recurrent)(cell, read, dim))
            widths.append(2 * dim if both else dim)
            if 0 < residual_from <= number + 1 and read != widths[-1]:
                raise UsageError(
                    f"layer {number + 1} of the encoder reads {read} numbers and puts out "
                    f"{widths[-1]}: they cannot be added. Change the widths, or begin residuals "
                    "at a later layer"
                )
        self.layers = nn.ModuleList(parts)
        self.widths = tuple(widths)

    def forward(self, x: Float[Tensor, "B L D"], at: Layout) -> Recalled:
        if self.reading == "backward":
            x = backwards(x, at)
        ends: list[Table] = []
        for number, layer in enumerate(self.layers):
            out, *sides = layer(self.dropout(x), at)
            ends.append(tuple(torch.cat(parts, -1) for parts in zip(*sides, strict=True)))
            x = x + out if 0 < self.residual_from <= number + 1 else out
        if self.reading == "backward":
            x = backwards(x, at)
        return Recalled(x, at, tuple(ends))

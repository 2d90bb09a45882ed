"""Bridges: what a decoder's layers begin with, made of what an encoder's remembered.

`same` hands each layer the state of the layer beside it (Sutskever et al. 2014; with an encoder
that reads both ways it is the two ends side by side, as in Tensor2Tensor, and the decoder is as
wide as both). `linear` is tanh of a linear function of it. `backward` is tanh of a linear function
of the state of the reader from the end alone, which ends at the first word (Bahdanau et al. 2015).
`none` begins with nothing. B batch, N states a row.
"""

from typing import Literal

import torch
from torch import nn

from heedful.errors import UsageError
from heedful.nn.initial import linear
from heedful.nn.states import Table

Bridged = Literal["same", "linear", "backward", "none"]


class Bridge(nn.Module):
    """From an encoder's ends to a decoder's starts."""

    def __init__(
        self, kind: Bridged, widths: tuple[int, ...], dim: int, layers: int, states: int
    ) -> None:
        """`widths` are those of the encoder's layers, `dim` the decoder's, `states` a cell's."""
        super().__init__()
        self.kind, self.layers = kind, layers
        if kind == "same" and widths != (dim,) * layers:
            raise UsageError(
                f"the encoder's layers remember {_said(widths)} numbers and the decoder's "
                f"{_said((dim,) * layers)}: bridge 'same' needs them to be alike. Use bridge "
                "'linear', or change the widths"
            )
        if kind == "backward" and widths[-1] % 2:
            raise UsageError(
                f"bridge 'backward' needs an encoder that reads both ways; {widths[-1]} numbers "
                "cannot be the states of two readers"
            )
        sizes = [widths[min(number, len(widths) - 1)] for number in range(layers)]
        halves = 2 if kind == "backward" else 1
        self.made = nn.ModuleList(
            nn.ModuleList(linear(size // halves, dim) for _ in range(states))
            for size in (sizes if kind in ("linear", "backward") else ())
        )

    def forward(self, ends: tuple[Table, ...]) -> tuple[Table, ...] | None:
        if self.kind == "none":
            return None
        if self.kind == "same":
            return ends
        starts = []
        for number, parts in enumerate(self.made):
            end = ends[min(number, len(ends) - 1)]
            if self.kind == "backward":
                end = tuple(part.chunk(2, -1)[1] for part in end)
            made = zip(parts, end, strict=True)  # type: ignore[call-overload]
            starts.append(tuple(torch.tanh(to(part)) for to, part in made))
        return tuple(starts)


def _said(widths: tuple[int, ...]) -> str:
    return ", ".join(map(str, widths))

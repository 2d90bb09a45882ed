"""Pixels to vectors: a picture becomes a grid of cells, each a vector that attention can look at.

B batch, L length, P pictures a row, C channels, K cells of a picture, D model.
"""

import math
from dataclasses import dataclass

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.layout import Layout
from heedful.text.pictures import PictureTokenizer
from heedful.text.specials import RESERVED


@dataclass(frozen=True, kw_only=True)
class CellsConfig:
    """How a picture is cut into cells: 3x3 convolutions, then one as large as a cell."""

    channels: tuple[int, ...] = (32,)  # of the 3x3 convolutions
    strides: tuple[int, ...] = (1,)  # of each: 2 halves height and width
    cell: int = 6  # side of a cell, in pixels of what the last of them gives
    dropout: float = 0.0  # of whole channels, after each

    def __post_init__(self) -> None:
        if len(self.channels) != len(self.strides):
            raise UsageError(
                f"{len(self.channels)} convolutions have {len(self.strides)} strides. Give each one"
            )
        if self.cell < 1 or min((*self.channels, *self.strides), default=1) < 1:
            raise UsageError("channels, strides and the side of a cell must be 1 or more")


class Cells(nn.Module):
    """A picture's cells: a vector each, with a learnt one for its place added.

    A row may hold several pictures, told apart by segments; an end symbol stands after each.
    """

    def __init__(self, tokenizer: PictureTokenizer, config: CellsConfig, dim: int) -> None:
        super().__init__()
        self.shape = (tokenizer.height, tokenizer.width, tokenizer.channels)
        self.pixels = tokenizer.pixels
        self.dropout = config.dropout
        widths = (tokenizer.channels, *config.channels)
        self.layers = nn.ModuleList(
            nn.Conv2d(inside, outside, 3, stride, padding=1)
            for inside, outside, stride in zip(widths[:-1], widths[1:], config.strides, strict=True)
        )
        self.cut = nn.Conv2d(widths[-1], dim, config.cell, config.cell)
        height, width = self.shape[:2]
        for stride in config.strides:
            height, width = -(-height // stride), -(-width // stride)
        self.grid = (height // config.cell, width // config.cell)
        self.side = config.cell * math.prod(config.strides)  # of a cell, in pixels of the picture
        if not all(self.grid):
            raise UsageError(
                f"a picture of {self.shape[0]} x {self.shape[1]} pixels has no whole cell: after "
                f"the strides {config.strides} it is {height} x {width}, and a cell's side is "
                f"{config.cell}. Set model.cells.cell or model.cells.strides to less"
            )
        self.places = nn.Parameter(torch.randn(self.grid[0] * self.grid[1], dim) * 0.1)
        for layer in (*self.layers, self.cut):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)

    def forward(self, ids: Int[Tensor, "B L"], at: Layout) -> tuple[Float[Tensor, "B K D"], Layout]:
        """The vectors of the cells, row by row of the grid, and where they stand."""
        each = self.pixels + 1
        pictures = ids.shape[1] // each
        if not pictures:
            raise UsageError(
                f"a row of {ids.shape[1]} ids holds no picture of {self.pixels} pixels and its end"
            )
        values = self.values(ids[:, : pictures * each].unflatten(1, (pictures, each)))
        x = self.convolved(values.to(self.places.dtype)) + self.places
        x = rearrange(x, "(b p) k d -> b (p k) d", p=pictures)
        count = len(self.places)
        segments = at.segments[:, : pictures * each : each].repeat_interleave(count, 1)
        places = torch.arange(count, device=ids.device).repeat(pictures)
        return x, Layout(places * (segments > 0), segments)

    def values(self, ids: Int[Tensor, "B P L"]) -> Float[Tensor, "N C H W"]:
        """The pixels as numbers from 0 to 1."""
        height, width, channels = self.shape
        colours = (ids[..., : self.pixels] - RESERVED).clamp(min=0)
        parts = [colours >> 8 * place & 255 for place in reversed(range(channels))]
        found = torch.stack(parts, 2).flatten(0, 1).unflatten(2, (height, width))
        return found.to(self.places.dtype) / 255

    def convolved(self, x: Float[Tensor, "N C H W"]) -> Float[Tensor, "N K D"]:
        for layer in self.layers:
            x = F.dropout2d(layer(x).relu(), self.dropout, self.training)
        return rearrange(self.cut(x).relu(), "n d h w -> n (h w) d")

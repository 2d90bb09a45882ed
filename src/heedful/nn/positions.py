"""Telling a model where each token stands. B batch, L length, D model."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import HeedfulError, UsageError, nearest
from heedful.nn.layout import Layout

TABLE = 1_024  # positions whose signal may be looked up


def sinusoid(positions: Int[Tensor, "*B"], dim: int) -> Float[Tensor, "*B D"]:
    """The paper's signal: sin(p/10000^(2i/D)) in channel 2i, the cosine in 2i+1 (section 3.5)."""
    pair = torch.arange(0, dim, 2, device=positions.device, dtype=torch.float32)
    angle = positions[..., None] * 10_000.0 ** (-pair / dim)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[..., :dim]


def sinusoid_halves(positions: Int[Tensor, "*B"], dim: int) -> Float[Tensor, "*B D"]:
    """Tensor2Tensor's signal: all sines, then all cosines, timescales from 1 to 10000 inclusive."""
    half = dim // 2
    step = torch.arange(half, device=positions.device, dtype=torch.float32) / max(half - 1, 1)
    angle = positions[..., None] * 10_000.0**-step
    return torch.cat([angle.sin(), angle.cos(), angle.new_zeros(*angle.shape[:-1], dim % 2)], -1)


SIGNALS = {"sinusoid": sinusoid, "sinusoid_t2t": sinusoid_halves}


class Sinusoids(nn.Module):
    """A fixed signal of sines and cosines: any position has one, nothing is learnt."""

    longest: int | None = None

    def __init__(self, dim: int, style: str) -> None:
        super().__init__()
        self.dim, self.style = dim, style
        self.table: Tensor
        self.register_buffer("table", SIGNALS[style](torch.arange(TABLE), dim), persistent=False)

    def forward(self, at: Layout) -> Float[Tensor, "B L D"]:
        rows, length = at.positions.shape
        if at.start is not None and at.start + length <= TABLE:
            return self.table[at.start : at.start + length].expand(rows, -1, -1)
        return SIGNALS[self.style](at.positions, self.dim)

    def of_whole(self, at: Layout) -> Float[Tensor, "B L D"]:
        """The same, of rows whose sequences are whole, so that no position is beyond the row's
        length: looked up, and not made anew for every token."""
        if at.positions.shape[1] > TABLE:
            return self(at)
        return F.embedding(at.positions, self.table)


class Learned(nn.Module):
    """A learnt vector for each position, for as many as there are (the paper's table 3, row E)."""

    def __init__(self, dim: int, longest: int) -> None:
        super().__init__()
        self.longest = longest
        self.table = nn.Parameter(torch.randn(longest, dim) * dim**-0.5)

    def forward(self, at: Layout) -> Float[Tensor, "B L D"]:
        if at.positions.device.type == "cpu" and int(at.positions.max()) >= self.longest:
            raise HeedfulError(
                f"a sequence of {int(at.positions.max()) + 1} tokens is longer than the "
                f"{self.longest} positions this model has learnt"
            )
        return self.table[at.positions]


class Nowhere(nn.Module):
    """No signal at all: what attention itself cannot tell, it is not told."""

    longest: int | None = None

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, at: Layout) -> Float[Tensor, "B L D"]:
        return torch.zeros(*at.positions.shape, self.dim, device=at.positions.device)


def parse_positions(text: str, dim: int) -> Sinusoids | Learned | Nowhere:
    """Positions as a setting writes them: `sinusoid`, `sinusoid_t2t`, `learned:512` or `none`."""
    name, colon, number = text.partition(":")
    if name in SIGNALS and not colon:
        return Sinusoids(dim, name)
    if name == "none" and not colon:
        return Nowhere(dim)
    if name == "learned":
        if not number.isdigit() or not int(number):
            raise UsageError(f"learned positions need to know how many: learned:512, got '{text}'")
        return Learned(dim, int(number))
    known = [*SIGNALS, "learned:512", "none"]
    raise UsageError(
        f"no positions named '{text}'.{nearest(text, known)} There are: {', '.join(known)}"
    )

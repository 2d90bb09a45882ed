"""How queries and keys are turned before they meet, so that their product knows their distance.

B batch, H heads, L length, E per head.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError, nearest
from heedful.nn.layout import Layout


class Rotary(nn.Module):
    """Each pair of channels turned by an angle in proportion to the position.

    Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021,
    https://arxiv.org/abs/2104.09864, eq. 34. Channels i and i + E/2 are a pair.
    """

    def __init__(self, width: int, base: float = 10_000.0) -> None:
        super().__init__()
        if width % 2:
            raise UsageError(
                f"rotary turns pairs of channels, but a head has {width}: an odd number"
            )
        self.width, self.base = width, base

    def forward(self, x: Float[Tensor, "B H L E"], at: Layout) -> Float[Tensor, "B H L E"]:
        half = torch.arange(self.width // 2, device=x.device, dtype=torch.float32)
        angle = at.positions[:, None, :, None] * self.base ** (-2 * half / self.width)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        one, other = x.chunk(2, -1)
        return torch.cat([one * cos - other * sin, one * sin + other * cos], -1)


TURNS = {"rotary": Rotary}


def parse_turn(text: str, width: int) -> nn.Module | None:
    """A turn as a setting writes it: `none` or `rotary`."""
    if text == "none":
        return None
    if text not in TURNS:
        raise UsageError(
            f"no attention turn named '{text}'.{nearest(text, TURNS)} "
            f"There are: none, {', '.join(TURNS)}"
        )
    return TURNS[text](width)

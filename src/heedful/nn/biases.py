"""What is added to the scores of attention before the softmax.

B batch, H heads, Q queries, K keys, E per head.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError, nearest
from heedful.nn.edges import Edges
from heedful.nn.layout import Layout
from heedful.nn.relative import RELATIVE


class Alibi(nn.Module):
    """A penalty that grows with distance, at a slope of its own for each head; nothing is learnt.

    Press, Smith and Lewis, "Train Short, Test Long", ICLR 2022, https://arxiv.org/abs/2108.12409.
    Distance counts both ways, so that it serves encoders too.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(
        self, q: Float[Tensor, "B H Q E"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q K"]:
        head = torch.arange(1, self.heads + 1, device=q.device)
        slope = 2.0 ** (-8.0 * head / self.heads)
        distance = (at.positions[:, :, None] - keys.positions[:, None, :]).abs()
        return (-slope[:, None, None] * distance[:, None]).to(q.dtype)


class BucketBias(nn.Module):
    """A learnt number for each head and each bucket of distance; far buckets are wide.

    Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
    Transformer", JMLR 2020, https://arxiv.org/abs/1910.10683, section 2.1: near distances have a
    bucket each, far ones share, growing as the logarithm up to `far`.
    """

    def __init__(self, heads: int, buckets: int = 32, far: int = 128) -> None:
        super().__init__()
        self.buckets, self.far = buckets, far
        self.table = nn.Parameter(torch.zeros(buckets, heads))

    def forward(
        self, q: Float[Tensor, "B H Q E"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q K"]:
        ahead = keys.positions[:, None, :] - at.positions[:, :, None]
        return self.table[self.bucket(ahead)].permute(0, 3, 1, 2).to(q.dtype)

    def bucket(self, ahead: Tensor) -> Tensor:
        """Half of the buckets look behind, half ahead; half of each are single distances."""
        half = self.buckets // 2
        single = half // 2
        distance = ahead.abs()
        scale = (half - single) / math.log(self.far / single)
        wide = single + (torch.log(distance.clamp(min=1) / single) * scale).long()
        within = torch.where(distance < single, distance, wide.clamp(max=half - 1))
        return within + half * (ahead > 0)


PLAIN: dict[str, Callable[..., nn.Module]] = {"alibi": Alibi, "bucket": BucketBias}
WRITTEN = {
    **{name: name for name in PLAIN},
    **{name: kind.form for name, kind in RELATIVE.items()},
    "edges": "edges:TYPES or edges:TYPES:ONLY",
}


def parse_bias(text: str, heads: int, width: int, causal: bool = False) -> nn.Module | None:
    """A bias as a setting writes it: `none`, `alibi`, `bucket`, `shaw:16`, `skew:512`, `edges:4`.

    Where attention is causal, vectors for what lies ahead are not made.
    """
    if text == "none":
        return None
    name, *numbers = text.split(":")
    if name not in WRITTEN:
        raise UsageError(
            f"no attention bias named '{name}'.{nearest(name, WRITTEN)} "
            f"There are: none, {', '.join(WRITTEN.values())}"
        )
    try:
        settings = [int(number) for number in numbers]
        if name in PLAIN:
            return PLAIN[name](heads, *settings)
        if name == "edges":
            return Edges(heads, width, *settings)
        return RELATIVE[name](heads, width, causal, *settings)
    except (TypeError, ValueError):
        raise UsageError(f"cannot read attention bias '{text}'; it is {WRITTEN[name]}") from None

"""Sampling: the next token by chance, as likely as the model says, or bolder or more careful.

Each row has its own seed, so what it says does not depend on the company it is decoded in.
R rows, T longest limit, V vocabulary.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.path import Leave, by_eighths, follow
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.scores import NEVER, top


@dataclass(frozen=True)
class Chance:
    """How chance is shaped: temperature first, then the `top_k` likeliest, then of those the fewest
    that hold `top_p` of the probability (Holtzman et al., https://arxiv.org/abs/1904.09751)."""

    temperature: float = 1.0
    top_k: int = 0  # 0 for all
    top_p: float = 1.0

    def shape(self, log_probs: Tensor) -> Tensor:
        """[R, V] as log-probabilities of the tokens that may be drawn; the others are -inf."""
        scores = torch.log_softmax(log_probs / self.temperature, dim=-1)
        size = scores.shape[-1]
        if (self.top_k == 0 or self.top_k >= size) and self.top_p >= 1.0:
            return scores
        best, places = top(scores, min(self.top_k or size, size))
        if self.top_p < 1.0:
            chances = best.double().softmax(dim=-1)
            before = chances.cumsum(dim=-1) - chances  # what the likelier ones hold already
            best = best.masked_fill(before >= self.top_p, NEVER)
        kept = torch.full_like(scores, NEVER).scatter_(-1, places, best)
        return torch.log_softmax(kept, dim=-1)


def sample(
    model: Decodable,
    batch: Batch,
    limits: Sequence[int],
    prefix: Prefix,
    chance: Chance,
    seeds: Sequence[int],
    alpha: float = 0.0,
    copies: int = 1,
    leave: Leave = by_eighths,
) -> list[list[Hypothesis]]:
    """`copies` samples a row, best first. Token scores are the model's own, before any shaping."""
    device = prefix.ids.device
    luck = torch.zeros(len(limits) * copies, max(limits), dtype=torch.double)  # [R, T]
    for row, (seed, limit) in enumerate(zip(seeds, limits, strict=True)):
        for copy in range(copies):
            generator = torch.Generator().manual_seed(mixed(seed, copy))
            draws = torch.rand(limit, dtype=torch.double, generator=generator)
            luck[row * copies + copy, :limit] = draws
    luck = luck.to(device)

    def choose(log_probs: Tensor, step: int, rows: Tensor) -> Tensor:
        return drawn(chance.shape(log_probs), luck[rows, step])

    return follow(model, batch, limits, prefix, choose, alpha, copies, leave)


def drawn(log_probs: Tensor, luck: Tensor) -> Tensor:
    """The tokens that numbers in [0, 1), one a row, fall upon: [R, V], [R] to [R]."""
    heights = log_probs.double().exp().cumsum(dim=-1)
    whole = heights[:, -1:]
    # Rounding must not lift a number to the very top, where no token is.
    aim = torch.minimum(luck[:, None] * whole, torch.nextafter(whole, torch.zeros_like(whole)))
    fallen = torch.searchsorted(heights, aim, right=True)[:, 0]
    return fallen.clamp(max=heights.shape[1] - 1)  # of NaN too, which its row is told apart for


def mixed(seed: int, part: int) -> int:
    """A seed made of two numbers, so that neighbouring ones have nothing in common."""
    digest = hashlib.blake2b(f"{seed}/{part}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1

"""Learning to choose: what was drawn is made likelier by as much as it did better than usual.

Williams, "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement
Learning", Machine Learning 1992; as Xu et al. 2015 use it for hard attention, eq. 11 to 13,
https://arxiv.org/abs/1502.03044. B batch, L length, K choices.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.layout import Layout

DECAY = 0.9  # of the baseline


class MovingBaseline(nn.Module):
    """What usually comes out: b ← 0.9 b + 0.1 log p. It is saved with the weights, and a copy of a
    model (as the one that computes in half precision) shares it. Every process has its own."""

    value: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("value", torch.zeros(()))

    def __deepcopy__(self, memo: dict[int, Any]) -> "MovingBaseline":
        return self

    @torch.no_grad()
    def move(self, outcome: Tensor, counted: Tensor) -> None:
        """Take in the mean of those outcomes that count, if any do."""
        count = counted.sum()
        mean = (outcome * counted).sum() / count.clamp(min=1)
        moved = DECAY * self.value + (1 - DECAY) * mean.to(self.value.dtype)
        self.value.copy_(torch.where(count > 0, moved, self.value))


def draw(weights: Float[Tensor, "*N K"]) -> Float[Tensor, "*N K"]:
    """1 at a choice drawn by its weight, 0 elsewhere; nothing where no weight is. No gradient.

    By Gumbel's trick, which needs no look at the numbers from outside the device.
    """
    even = torch.rand_like(weights, dtype=torch.float32).clamp(1e-20, 1 - 1e-7)
    noise = -(-even.log()).log()
    chosen = (weights.detach().float().log() + noise).argmax(-1)
    return F.one_hot(chosen, weights.shape[-1]).to(weights.dtype) * (weights.detach() > 0)


def of_sequence(values: Float[Tensor, "B L"], at: Layout) -> Float[Tensor, "B L"]:
    """The sum over each token's sequence, at every token of it; padding has none."""
    same = (at.segments[:, :, None] == at.segments[:, None]) & at.real[:, None]
    return (same.to(values.dtype) @ values[..., None])[..., 0].masked_fill(~at.real, 0.0)


def reward_loss(
    weights: Float[Tensor, "B L K"],
    drawn: Float[Tensor, "B L K"],
    outcome: Float[Tensor, "B L"],
    at: Layout,
    baseline: MovingBaseline,
    reward: float,
    entropy: float,
) -> Float[Tensor, ""]:
    """What is added to a loss so that the weights learn: `outcome` is log p of the whole sequence,
    known at each of its tokens; where nothing was drawn, nothing is learnt by it."""
    tiny = torch.finfo(weights.dtype).tiny
    logs = weights.clamp(min=tiny).log()
    real = at.real.to(weights.dtype)
    better = (outcome - baseline.value.to(outcome.dtype)).detach()
    chosen = (drawn * logs).sum(-1)
    spread = -(weights * logs).sum(-1)
    starts = (at.positions == 0) & at.real & drawn.any(-1)
    baseline.move(outcome, starts)
    return -(reward * better * chosen + entropy * spread).mul(real).sum()

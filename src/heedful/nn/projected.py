"""The softmax over a large vocabulary without all of its scores: projection, loss and gradient of
some tokens at a time.

With 32,000 symbols the scores of a batch and their gradient outweigh the whole rest of the model.
Here they exist for one chunk of tokens at a time: the gradient is made on the way forward, while
the scores are there. N tokens, D model, V vocabulary.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.nn.losses import Loss, Smoothing

CHUNK = 2**27  # scores that exist at a time


def projected(
    smoothing: Smoothing,
    x: Float[Tensor, "*N D"],
    weight: Float[Tensor, "V D"],
    targets: Int[Tensor, "*N"],
    real: Bool[Tensor, "*N"],
) -> Loss:
    """What `smoothing(x @ weight.T, targets, real)` gives."""
    low = x.dtype
    if torch.is_autocast_enabled(x.device.type):
        low = torch.get_autocast_dtype(x.device.type)
    if not torch.is_grad_enabled():
        x, weight = x.detach(), weight.detach()
    spread, least = smoothing.spread(len(weight))
    flat = x.reshape(-1, x.shape[-1]).to(low)
    loss, nll = _Projected.apply(flat, weight, targets.flatten(), real.flatten(), spread, least)
    return Loss(loss, real.sum(), nll)


class _Projected(torch.autograd.Function):
    """The sum of the smoothed loss, and of the likelihood beside it, which has no gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        targets: Tensor,
        real: Tensor,
        spread: float,
        least: float,
    ) -> tuple[Tensor, Tensor]:
        size = max(1, CHUNK // len(weight))
        low = weight.to(x.dtype)
        wide = torch.promote_types(x.dtype, torch.float32)
        loss, nll = x.new_zeros((), dtype=wide), x.new_zeros((), dtype=wide)
        wants_x, wants_weight = ctx.needs_input_grad[:2]
        x_slopes = []
        weight_slope = torch.zeros_like(weight, dtype=wide) if wants_weight else None
        parts = (t.split(size) for t in (x, targets, real))
        for x_part, targets_part, real_part in zip(*parts, strict=True):
            scores = x_part @ low.T
            loss_part, nll_part, slope = sloped(scores, targets_part, real_part, spread, least)
            loss, nll = loss + loss_part, nll + nll_part
            if wants_x:
                x_slopes.append(slope @ low)
            if weight_slope is not None:
                weight_slope += slope.T @ x_part
        if weight_slope is not None:
            weight_slope = weight_slope.to(weight.dtype)
        ctx.save_for_backward(torch.cat(x_slopes) if wants_x else None, weight_slope)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        by = slopes[0]
        return (
            None if x is None else x * by.to(x.dtype),
            None if weight is None else weight * by.to(weight.dtype),
            *(None,) * 4,
        )


def sloped(
    scores: Float[Tensor, "N V"],
    targets: Int[Tensor, " N"],
    real: Bool[Tensor, " N"],
    spread: float,
    least: float,
) -> tuple[Tensor, Tensor, Float[Tensor, "N V"]]:
    """Loss and likelihood summed over the tokens, and the loss's gradient by each score."""
    wide = scores.float() if scores.dtype.itemsize < 4 else scores
    norm = wide.logsumexp(-1, keepdim=True)
    nll = (norm - wide.gather(-1, targets[:, None]))[:, 0]
    loss = nll
    if spread:
        loss = (1 - spread) * nll + spread * (norm[:, 0] - wide.mean(-1)) - least
    labels = torch.arange(scores.shape[-1], device=scores.device)
    true = labels == targets[:, None]
    slope = (wide - norm).exp() - torch.where(true, 1 - spread, 0.0) - spread / scores.shape[-1]
    slope = slope.masked_fill(~real[:, None], 0.0).to(scores.dtype)
    return loss.masked_fill(~real, 0.0).sum(), nll.masked_fill(~real, 0.0).sum(), slope

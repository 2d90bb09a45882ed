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

from heedful.nn.kernels.blocks import suits_kernels
from heedful.nn.losses import Loss, Smoothing
from heedful.nn.products import add_product, product

CHUNK = 2**27  # scores that exist at a time
WHOLE = 256  # tokens of a chunk are a multiple of so many: products are cut into such tiles


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
    """The sum of the smoothed loss, and of the likelihood beside it, which has no gradient.

    The gradient by the scores is softmax - (1 - spread)·[true label] - spread / V. The last term is
    the same for all, so it is not written into them: what it adds to the gradients by x and weight
    is known from their sums. Tokens that are not real are left out of x, for the same reason.
    """

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
        labels = len(weight)
        low = weight.to(x.dtype)
        wide = torch.promote_types(x.dtype, torch.float32)
        middle = weight.mean(0, dtype=wide)
        x = x.masked_fill(~real[:, None], 0.0)
        wants_x, wants_weight = ctx.needs_input_grad[:2]
        loss, nll = x.new_zeros((), dtype=wide), x.new_zeros((), dtype=wide)
        x_slopes = []
        weight_slope = torch.zeros_like(weight, dtype=wide) if wants_weight else None
        quick = x.dtype is torch.bfloat16 and x.device.type == "cpu"
        learns = wants_x or wants_weight
        by_kernel = learns and suits_kernels(x)
        size = chunk(labels)
        parts = (t.split(size) for t in (x, targets[:, None], real))
        for x_part, true, real_part in zip(*parts, strict=True):
            scores = product(x_part, low)
            if by_kernel:
                slope, likely, norm = _by_kernel(scores, true, spread - 1.0)
            else:
                slope, likely = (_by_shares if quick else _by_logarithms)(scores.to(wide), true)
                norm = scores.gather(1, true)[:, 0].to(wide) - likely
            nll_part = -likely
            loss_part = nll_part
            if spread:
                mean = x_part.to(wide) @ middle - norm  # of the log-probabilities
                loss_part = (1 - spread) * nll_part - spread * mean - least
            loss = loss + loss_part.masked_fill(~real_part, 0.0).sum()
            nll = nll + nll_part.masked_fill(~real_part, 0.0).sum()
            if not learns:
                continue
            if not by_kernel:
                slope = slope if quick else slope.exp_()
                slope = _with_truth(slope, true, spread - 1.0).to(x.dtype)
            if wants_x:
                x_slopes.append(product(slope, low.T))
            if weight_slope is not None:
                add_product(weight_slope, slope.T, x_part.T)
        x_slope = None
        if wants_x:
            x_slope = torch.cat(x_slopes) - (spread * middle).to(x.dtype)
            x_slope = x_slope.masked_fill(~real[:, None], 0.0)
        if weight_slope is not None:
            weight_slope -= (spread / labels) * x.sum(0, dtype=wide)
            weight_slope = weight_slope.to(weight.dtype)
        ctx.save_for_backward(x_slope, weight_slope)
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


def chunk(labels: int) -> int:
    """How many tokens' scores exist at a time."""
    size = max(1, CHUNK // labels)
    return size - size % WHOLE if size > WHOLE else size


def _by_kernel(scores: Tensor, true: Tensor, amount: float) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient with `amount` added at the true labels, those labels' log-probabilities, and
    what scores are less by than log-probabilities."""
    from heedful.nn.kernels.softmax_slopes import softmax_slopes

    return softmax_slopes(scores, true[:, 0], amount)


def _with_truth(slope: Tensor, true: Tensor, amount: float) -> Tensor:
    """The gradient with `amount` added at the true labels, perhaps in place."""
    if torch.compiler.is_compiling():  # in one pass with the rest; who scatters writes all before
        labels = torch.arange(slope.shape[1], device=slope.device)
        return torch.where(labels == true, slope + amount, slope)
    return slope.scatter_add_(1, true, torch.full_like(true, amount, dtype=slope.dtype))


def _by_logarithms(scores: Tensor, true: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities of all labels, and of the true ones."""
    logp = scores.log_softmax(-1)
    return logp, logp.gather(1, true)[:, 0]


def _by_shares(scores: Tensor, true: Tensor) -> tuple[Tensor, Tensor]:
    """Probabilities of all labels, and log-probabilities of the true ones: a CPU takes longer for
    the exponentials of the former's logarithms than for a whole softmax."""
    shares = scores.softmax(-1)
    norm = scores.amax(-1) - shares.amax(-1).log()  # the likeliest is never too small to be told
    return shares, scores.gather(1, true)[:, 0] - norm

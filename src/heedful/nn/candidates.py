"""The softmax over some candidates instead of all words: sampled ones, or those of a bucket.

Jean, Cho, Memisevic and Bengio, "On Using Very Large Target Vocabulary for Neural Machine
Translation", ACL 2015, https://arxiv.org/abs/1412.2007, section 3. Bengio and Senécal, "Quick
Training of Probabilistic Neural Nets by Importance Sampling", AISTATS 2003.

The sum over all words, Z, is estimated by exp(score) / expected, added up over the candidates,
where `expected` is how often a candidate is to be expected among them; the true word counts for
itself, once, and is left out of the candidates where they have it. Of sampled candidates, that is Z
on average. Of a bucket, whose words are all expected once, it is the softmax over the bucket.
N tokens, D model, C candidates, V vocabulary.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.losses import Loss, Objective

CHUNK = 2**23  # scores that exist at a time


@dataclass(frozen=True, kw_only=True)
class Sampled(Objective, kind="sampled"):
    """A softmax over sampled words, the same for a whole batch, weighted by importance.

    Departs from the papers: a frequent word comes every time and none twice, which scatters less.
    Where the vocabulary has no more words than are to be sampled, this is the whole softmax.
    """

    samples: int = 8_192
    odds: Literal["log_uniform", "unigram"] = "log_uniform"
    """By the rank of a word among the frequent ones, or by how often it was counted."""

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise UsageError(f"loss.samples must be 1 or more, got {self.samples}")


@dataclass(frozen=True, kw_only=True)
class Buckets(Objective, kind="buckets"):
    """A softmax over the target words of a stretch of the training data, at most `batch.words`.

    The training data is cut into stretches as it is walked: one ends before it would have more
    different words. Where the vocabulary has no more than that, this is the whole softmax.
    """


def among(
    x: Float[Tensor, "*N D"],
    weight: Float[Tensor, "V D"],
    targets: Int[Tensor, "*N"],
    real: Bool[Tensor, "*N"],
    candidates: Int[Tensor, "C"],
    log_expected: Float[Tensor, "C"],
) -> Loss:
    """The loss when the softmax is estimated from these candidates; infinity for `log_expected`
    leaves one out. Only the rows of candidates and targets get a gradient."""
    low = x.dtype
    if torch.is_autocast_enabled(x.device.type):
        low = torch.get_autocast_dtype(x.device.type)
    flat, true, is_real = x.reshape(-1, x.shape[-1]).to(low), targets.flatten(), real.flatten()
    rows = F.embedding(torch.cat([candidates, true]), weight).to(low)
    theirs, own = rows.split([len(candidates), len(true)])
    wide = torch.promote_types(low, torch.float32)
    score = (flat * own).sum(-1, dtype=wide)
    nll = _Among.apply(flat, theirs, score, log_expected.to(wide), candidates, true, is_real)
    return Loss(nll, real.sum(), nll.detach())


class _Among(torch.autograd.Function):
    """The sum of -log probability, its gradient made on the way forward, some tokens at a time."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        own: Tensor,
        log_expected: Tensor,
        candidates: Tensor,
        targets: Tensor,
        real: Tensor,
    ) -> Tensor:
        wide = own.dtype
        wants = any(ctx.needs_input_grad[:3])
        nll = own.new_zeros(())
        x_slopes, own_slopes = [], []
        weight_slope = torch.zeros_like(weight, dtype=wide)
        size = max(1, CHUNK // max(1, len(weight)))
        parts = (t.split(size) for t in (x, own, targets[:, None], real[:, None]))
        for x_part, own_part, true, real_part in zip(*parts, strict=True):
            scores = (x_part @ weight.T).to(wide).sub_(log_expected)
            scores.masked_fill_(candidates == true, -torch.inf)
            norm = torch.logaddexp(scores.logsumexp(-1), own_part)
            nll = nll + (norm - own_part).masked_fill(~real_part[:, 0], 0.0).sum()
            if not wants:
                continue
            slope = scores.sub_(norm[:, None]).exp_().masked_fill_(~real_part, 0.0).to(x.dtype)
            x_slopes.append(slope @ weight)
            weight_slope += slope.T @ x_part
            own_slopes.append(((own_part - norm).exp() - 1).masked_fill(~real_part[:, 0], 0.0))
        if wants:
            ctx.save_for_backward(
                torch.cat(x_slopes), weight_slope.to(weight.dtype), torch.cat(own_slopes)
            )
        return nll

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        return (*(saved * slopes[0].to(saved.dtype) for saved in ctx.saved_tensors), *(None,) * 4)

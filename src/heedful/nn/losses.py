"""How wrong a guess is. N tokens, V vocabulary."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.config import Choice


class Loss(NamedTuple):
    """Sums over tokens, so that batches of any size add up."""

    sum: Tensor  # what is minimised, smoothing included
    weight: Tensor  # how many tokens
    nll: Tensor  # -log probability of the tokens themselves: what perplexity is made of


@dataclass(frozen=True, kw_only=True)
class Objective(Choice):
    """What training minimises: the whole softmax, or something cheaper that leads to the same.

    However a model was trained, evaluating and decoding use the whole softmax. One that says no
    kind is a `Smoothing`.
    """

    kind: ClassVar[str] = "smoothing"
    waits: ClassVar[bool] = False  # for the device, within a step, which is then not recorded

    @property
    def amount(self) -> float:
        """How much of the target's weight is spread over other labels."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class Smoothing(Objective, kind="smoothing"):
    """Label smoothing: a little of the target's weight is spread over the other labels.

    Szegedy et al., "Rethinking the Inception Architecture", 2016, https://arxiv.org/abs/1512.00567.
    Two dialects that differ: `t2t` gives the true label 1 - amount and each other amount/(V-1), and
    subtracts the least value the loss can have; `torch` spreads the amount over all V labels.
    """

    amount: float = 0.1
    style: Literal["t2t", "torch"] = "t2t"

    def __call__(
        self,
        logits: Float[Tensor, "*N V"],
        targets: Int[Tensor, "*N"],
        real: Bool[Tensor, "*N"],
    ) -> Loss:
        logp = (
            logits.float().log_softmax(-1) if logits.dtype.itemsize < 4 else logits.log_softmax(-1)
        )
        nll = -logp.gather(-1, targets[..., None])[..., 0]
        spread, least = self.spread(logits.shape[-1])
        loss = nll if not spread else (1 - spread) * nll - spread * logp.mean(-1) - least
        return Loss(
            loss.masked_fill(~real, 0.0).sum(),
            real.sum(),
            nll.masked_fill(~real, 0.0).sum().detach(),
        )

    def spread(self, labels: int) -> tuple[float, float]:
        """The share given evenly to all labels, and the least value the loss can then have.

        amount/(V-1) to each of the others is amount·V/(V-1) spread evenly over all.
        """
        if not self.amount or self.style == "torch" or labels < 2:
            return self.amount, 0.0
        rest = self.amount / (labels - 1)
        least = -(1 - self.amount) * math.log(1 - self.amount) - self.amount * math.log(rest)
        return self.amount * labels / (labels - 1), least

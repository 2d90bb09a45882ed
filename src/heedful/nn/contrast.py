"""Telling the true word from noise, instead of a softmax over all of them.

Gutmann and Hyvärinen, "Noise-Contrastive Estimation", AISTATS 2010; for words: Mnih and Teh, "A
Fast and Simple Algorithm for Training Neural Probabilistic Language Models", ICML 2012,
https://arxiv.org/abs/1206.6426. Negative sampling: Mikolov, Sutskever, Chen, Corrado and Dean,
"Distributed Representations of Words and Phrases and their Compositionality", NeurIPS 2013,
https://arxiv.org/abs/1310.4546, equation 4.

Departs from the papers: the same noise words serve a whole batch, more of them than `samples`, each
counted for less; on average that is the same. N tokens, S drawn words.
"""

import math
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.losses import Loss, Objective


@dataclass(frozen=True, kw_only=True)
class Contrast(Objective, kind="contrast"):
    """Noise-contrastive estimation: scores become log-probabilities that need no normalising."""

    samples: int = 25  # k: noise words against each true one
    drawn: int = 1_024  # words that stand for them, the same for a whole batch
    power: float = 1.0  # of a word's frequency, which makes how often it is noise

    def __post_init__(self) -> None:
        if self.samples < 1 or self.drawn < 1:
            raise UsageError(
                "loss.samples and loss.drawn must be 1 or more, "
                f"got {self.samples} and {self.drawn}"
            )


@dataclass(frozen=True, kw_only=True)
class Negatives(Contrast, kind="negatives"):
    """Negative sampling: as contrast, but a word's frequency is not subtracted from its score.

    So scores become no probabilities, but tell how much more often words meet than by chance:
    PMI - log k, for noise as frequent as the words (Levy and Goldberg, NeurIPS 2014).
    """

    samples: int = 5
    drawn: int = 256
    power: float = 0.75


def told_apart(
    true: Float[Tensor, "*N"],
    noise: Float[Tensor, "*N S"],
    real: Bool[Tensor, "*N"],
    samples: int,
) -> Loss:
    """The loss of telling true words from noise by these scores, `samples` noise words each."""
    share = samples / noise.shape[-1]
    loss = F.softplus(-true.float()) + share * F.softplus(noise.float()).sum(-1)
    total = loss.masked_fill(~real, 0.0).sum()
    return Loss(total, real.sum(), total.detach())


def beginning(size: int) -> float:
    """What fresh scores, all about 0, lack to be log-probabilities: log V is subtracted of each."""
    return math.log(size)

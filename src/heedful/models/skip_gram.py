"""Skip-gram: words that keep the same company get vectors that are near each other.

Mikolov, Sutskever, Chen, Corrado and Dean, "Distributed Representations of Words and Phrases and
their Compositionality", NeurIPS 2013, https://arxiv.org/abs/1310.4546.

It learns from any text that a language model learns from. Words that are frequent are dropped at
random, before anything else; then each word that is left is to tell the words in a window around it
from noise. The vectors of words in the middle are the result; those of words around it are the
softmax's. Evaluated, it is a softmax over all words for each word in a whole window: `perplexity`
is of those. B batch, L length, D model, V vocabulary.

Departs from the paper: what the same centre is to tell apart shares its noise words with the whole
batch (see nn/contrast.py). Words unknown and ends of lines are dropped like frequent ones.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.data.batch import Batch
from heedful.errors import UsageError
from heedful.modalities.heads import ContrastHead
from heedful.models.base import LanguageModel, Model, ModelConfig
from heedful.nn.attention import Encoded
from heedful.nn.contrast import Negatives
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss
from heedful.nn.memory import FORGET, Memory
from heedful.registry import models
from heedful.text.specials import RESERVED


@dataclass(frozen=True, kw_only=True)
class SkipGramConfig(ModelConfig, kind="skip_gram"):
    """Two tables of vectors and a window."""

    tie: Literal["all", "targets", "none"] = "none"
    window: int = 5  # words to either side at most; for each word, so many or fewer, drawn evenly
    rare: float = 1e-5  # share of the text up to which a word is never dropped; 0 to drop none

    def __post_init__(self) -> None:
        if self.window < 1 or not 0 <= self.rare <= 1:
            raise UsageError(
                "model.window must be 1 or more and model.rare from 0 to 1, "
                f"got {self.window} and {self.rare}"
            )
        if self.tie != "none":
            raise UsageError("skip-gram has two tables: leave model.tie=none")


class SkipGram(LanguageModel):
    """Two tables, and the loss of telling a word's company from noise."""

    config: SkipGramConfig
    head: ContrastHead
    kept: Tensor

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        if not isinstance(getattr(self.head, "config", None), Negatives):
            raise UsageError("skip-gram learns by negative sampling: set loss=negatives")
        share = self.head.noise.expected ** (1 / self.head.config.power)  # of the text
        rare = self.config.rare or 1.0
        kept = (rare * share.sum() / share).sqrt().clamp(max=1.0)
        kept[:RESERVED] = 0.0  # they are no words
        self.register_buffer("kept", kept.float(), persistent=False)

    def loss(self, batch: Batch) -> Loss:
        if not self.training:
            return self.likelihood(batch)
        ids, at = self.thinned(batch.targets.ids, batch.targets.at)
        windows = torch.randint(1, self.config.window + 1, ids.shape, device=ids.device)
        centres = self.targets(ids)
        around = F.embedding(ids, self.head.embedding.weight)
        true = centres.new_zeros((), dtype=torch.float32)
        company = torch.zeros_like(ids)  # how many each word is to tell
        for centre, other, pair in self.pairs(at, windows):
            score = (centres[:, centre] * around[:, other]).sum(-1).float()
            true = true + F.softplus(-score).masked_fill(~pair, 0.0).sum()
            company[:, centre] += pair
        drawn = self.head.noise.draw()
        noise = F.linear(centres, F.embedding(drawn, self.head.embedding.weight)).float()
        share = self.head.samples / len(drawn)
        false = (F.softplus(noise).sum(-1) * (share * company)).sum()
        count = company.sum()
        return Loss(true + false, count, (true + false).detach())

    def likelihood(self, batch: Batch) -> Loss:
        """-log probability of every word in each one's whole window, by a softmax over all."""
        ids, at = batch.targets.ids, batch.targets.at
        real = at.real & (ids >= RESERVED)
        at = Layout(at.positions, at.segments * real)
        windows = torch.full_like(ids, self.config.window)
        centres = self.targets(ids)
        logp = self.head(centres).float().log_softmax(-1)
        nll, count = logp.new_zeros(()), ids.new_zeros(())
        for centre, other, pair in self.pairs(at, windows):
            found = logp[:, centre].gather(2, ids[:, other, None])[..., 0]
            nll = nll - found.masked_fill(~pair, 0.0).sum()
            count = count + pair.sum()
        return Loss(nll, count, nll.detach())

    def thinned(self, ids: Int[Tensor, "B L"], at: Layout) -> tuple[Tensor, Layout]:
        """What is left of the text when frequent words are dropped, moved together."""
        stays = at.real & (torch.rand(ids.shape, device=ids.device) < self.kept[ids])
        order = (~stays).int().argsort(dim=1, stable=True)
        segments = (at.segments * stays).gather(1, order)
        return ids.gather(1, order), Layout(at.positions, segments)

    def pairs(
        self, at: Layout, windows: Int[Tensor, "B L"]
    ) -> list[tuple[slice, slice, Bool[Tensor, "B N"]]]:
        """Centres, the words so many places beside them, and which of these are in the window."""
        found = []
        length = windows.shape[1]
        for far in range(1, min(self.config.window, length - 1) + 1):
            left, right = slice(0, length - far), slice(far, length)
            same = at.real[:, left] & (at.segments[:, left] == at.segments[:, right])
            found.append((left, right, same & (windows[:, left] >= far)))
            found.append((right, left, same & (windows[:, right] >= far)))
        return found


@models.register("skip_gram")
class Company(nn.Module):
    """Skip-gram with negative sampling: vectors of words by the words around them."""

    joined: type[Model] = SkipGram

    def __init__(self, config: SkipGramConfig) -> None:
        super().__init__()

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None = None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        return x

"""Heads for large vocabularies: in training they look at some words only, otherwise at all.

B batch, L length, D model, C candidates, V vocabulary.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.modalities.symbols import Embedding, Head
from heedful.nn.adaptive import Adaptive, Clusters
from heedful.nn.candidates import Buckets, Sampled, among
from heedful.nn.contrast import Contrast, Negatives, beginning, told_apart
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss, Objective, Smoothing
from heedful.nn.noise import Noise, at_most_once, log_uniform, unigram
from heedful.text.specials import PAD

PLAIN = Smoothing(amount=0.0)  # how the whole softmax is judged by


def head_for(
    objective: Objective, embedding: Embedding, counts: Sequence[int] | None = None
) -> Head:
    """The head that learns by this objective, with these weights. `counts` says how often each id
    is in the training text, where that is known."""
    often = None if counts is None else torch.tensor(counts, dtype=torch.double)
    if isinstance(objective, Smoothing):
        return Head(embedding, objective)
    if isinstance(objective, Sampled):
        return SampledHead(embedding, objective, often)
    if isinstance(objective, Buckets):
        return BucketHead(embedding, PLAIN)
    if isinstance(objective, Contrast):
        return ContrastHead(embedding, objective, often)
    if isinstance(objective, Adaptive):
        return AdaptiveHead(len(embedding.weight), embedding.weight.shape[1], objective)
    raise UsageError(f"no softmax learns by a loss of kind {type(objective).__name__}")


class SampledHead(Head):
    """Trained with a softmax over the true word and sampled ones."""

    def __init__(self, embedding: Embedding, config: Sampled, counts: Tensor | None) -> None:
        super().__init__(embedding, PLAIN)
        size = len(embedding.weight)
        odds = log_uniform(size) if config.odds == "log_uniform" else unigram(counts, size)
        self.samples = config.samples
        self.noise = Noise(at_most_once(odds, min(size, config.samples)))

    def loss(
        self,
        x: Float[Tensor, "B L D"],
        ids: Int[Tensor, "B L"],
        at: Layout,
        words: Int[Tensor, "1 C"] | None = None,
    ) -> Loss:
        weight = self.embedding.weight
        if not self.training or self.samples >= len(weight):
            return super().loss(x, ids, at)
        drawn = self.noise.draw()
        return among(x, weight, ids, at.real, drawn, self.noise.log_expected(drawn))


class BucketHead(Head):
    """Trained with a softmax over the words of a bucket, which come with the batch."""

    def loss(
        self,
        x: Float[Tensor, "B L D"],
        ids: Int[Tensor, "B L"],
        at: Layout,
        words: Int[Tensor, "1 C"] | None = None,
    ) -> Loss:
        weight = self.embedding.weight
        if not self.training:
            return super().loss(x, ids, at)
        if words is None:
            raise UsageError(
                "loss=buckets learns from the words of a stretch of the training data, and these "
                "batches do not say theirs: set batch.words, as in --set batch.words=20000"
            )
        if words.shape[1] >= len(weight):
            return super().loss(x, ids, at)
        none = torch.zeros_like(words[0], dtype=weight.dtype)
        return among(
            x, weight, ids, at.real, words[0], none.masked_fill(words[0] == PAD, torch.inf)
        )


class ContrastHead(Head):
    """Trained to tell the true word from noise."""

    def __init__(self, embedding: Embedding, config: Contrast, counts: Tensor | None) -> None:
        super().__init__(embedding, PLAIN)
        self.config = config
        size = len(embedding.weight)
        self.noise = Noise(unigram(counts, size, config.power) * config.drawn)
        self.begins = beginning(size)

    def loss(
        self,
        x: Float[Tensor, "B L D"],
        ids: Int[Tensor, "B L"],
        at: Layout,
        words: Int[Tensor, "1 C"] | None = None,
    ) -> Loss:
        if not self.training:
            return super().loss(x, ids, at)
        drawn = self.noise.draw()
        true = (x * F.embedding(ids, self.embedding.weight)).sum(-1)
        noise = F.linear(x, F.embedding(drawn, self.embedding.weight))
        return told_apart(self.odds(true, ids), self.odds(noise, drawn), at.real, self.samples)

    @property
    def samples(self) -> int:
        return self.config.samples

    def odds(self, scores: Tensor, ids: Tensor) -> Tensor:
        """By scores, the log-odds that words are true and not noise."""
        if isinstance(self.config, Negatives):
            return scores
        share = self.samples / self.config.drawn
        log_noise = self.noise.log_expected(ids) + math.log(share)
        return scores - self.begins - log_noise


class AdaptiveHead(Head):
    """Trained and used with clusters of words; it has weights of its own, and no single matrix."""

    def __init__(self, size: int, dim: int, config: Adaptive) -> None:
        super(Head, self).__init__()
        self.clusters = Clusters(size, dim, config)

    @property
    def embedding(self) -> Embedding:  # type: ignore[override]
        raise UsageError(
            "the clusters of an adaptive softmax are no single matrix, which is needed here: for "
            "lighter weights (decode with --precision fp32) or another library"
        )

    def forward(self, x: Float[Tensor, "B L D"]) -> Float[Tensor, "B L V"]:
        return self.clusters(x)

    def loss(
        self,
        x: Float[Tensor, "B L D"],
        ids: Int[Tensor, "B L"],
        at: Layout,
        words: Int[Tensor, "1 C"] | None = None,
    ) -> Loss:
        return self.clusters.loss(x.flatten(0, 1), ids.flatten(), at.real.flatten())

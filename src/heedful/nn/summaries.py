"""Summaries: one vector of all the vectors of a text, however long it is.

Each place that asks, asks for the text of its own segment, so padded and packed rows are the same.
A text without a token has the summary 0. B batch, L length, T places that ask, D model.
"""

from abc import ABC, abstractmethod
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.telling import SUMMARY, Telling

Pooling = Literal["attend", "max", "mean", "first"]


class Summary(nn.Module, ABC):
    """Makes one vector of many."""

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "B L D"], at: Layout, of: Layout
    ) -> Float[Tensor, "B T D"]: ...


class Weighted(Summary):
    """A sum of the vectors by weights that add up to 1."""

    @abstractmethod
    def weights(
        self, x: Float[Tensor, "B L D"], at: Layout, own: Bool[Tensor, "B T L"]
    ) -> Float[Tensor, "B T L"]:
        """How much of each; 0 where it is not `own`."""

    def forward(self, x: Float[Tensor, "B L D"], at: Layout, of: Layout) -> Float[Tensor, "B T D"]:
        return self.weights(x, at, belonging(at, of)) @ x


class Mean(Weighted):
    """All alike."""

    def weights(
        self, x: Float[Tensor, "B L D"], at: Layout, own: Bool[Tensor, "B T L"]
    ) -> Float[Tensor, "B T L"]:
        return own.to(x.dtype) / own.sum(2, keepdim=True).clamp(min=1)


class First(Weighted):
    """The first token's alone."""

    def weights(
        self, x: Float[Tensor, "B L D"], at: Layout, own: Bool[Tensor, "B T L"]
    ) -> Float[Tensor, "B T L"]:
        return (own & (at.positions == 0)[:, None]).to(x.dtype)


class Attend(Weighted, Telling):
    """By additive attention of the text to itself: softmax over v·tanh(W x + b).

    Lin et al., "A Structured Self-Attentive Sentence Embedding", ICLR 2017,
    https://arxiv.org/abs/1703.03130, with one row of attention.
    """

    kind = SUMMARY

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.inner = linear(dim, dim)
        self.score = linear(dim, 1, bias=False)

    def forward(self, x: Float[Tensor, "B L D"], at: Layout, of: Layout) -> Float[Tensor, "B T D"]:
        weights = self.weights(x, at, belonging(at, of))
        self.noted(weights[:, None], at)
        return weights @ x

    def weights(
        self, x: Float[Tensor, "B L D"], at: Layout, own: Bool[Tensor, "B T L"]
    ) -> Float[Tensor, "B T L"]:
        scores = self.score(self.inner(x).tanh())[:, None, :, 0]
        scores = scores.masked_fill(~own, torch.finfo(x.dtype).min)
        return scores.softmax(2).masked_fill(~own, 0.0)


class Max(Summary):
    """The largest number of each channel."""

    def forward(self, x: Float[Tensor, "B L D"], at: Layout, of: Layout) -> Float[Tensor, "B T D"]:
        asked = of.segments.shape[1]  # segments are numbered from 1, and each has a place or more
        to = at.segments.clamp(max=asked)[..., None].expand_as(x)
        empty = x.new_zeros(len(x), asked + 1, x.shape[2])
        largest = empty.scatter_reduce(1, to, x, "amax", include_self=False)
        wanted = largest.gather(1, of.segments[..., None].expand(-1, -1, x.shape[2]))
        return wanted.masked_fill(~of.real[..., None], 0.0)


def belonging(at: Layout, of: Layout) -> Bool[Tensor, "B T L"]:
    """True where a token is of the segment of the place that asks."""
    same: Tensor = at.segments[:, None, :] == of.segments[:, :, None]
    return same & at.real[:, None, :]


def summary(pooling: Pooling, dim: int) -> Summary:
    """The summary of this name, of vectors of `dim` numbers."""
    if pooling == "attend":
        return Attend(dim)
    if pooling == "max":
        return Max()
    return Mean() if pooling == "mean" else First()

"""Scores: how well what a decoder looks for and what stands at a place of the source fit.

All those of the lecture's table, each by its name. `additive`: Bahdanau, Cho and Bengio, "Neural
Machine Translation by Jointly Learning to Align and Translate", ICLR 2015,
https://arxiv.org/abs/1409.0473. `dot`, `general`, `concat`, `location`: Luong, Pham and Manning,
"Effective Approaches to Attention-based Neural Machine Translation", EMNLP 2015,
https://arxiv.org/abs/1508.04025. `scaled_dot`: Vaswani et al. 2017. `cosine`: Graves, Wayne and
Danihelka, "Neural Turing Machines", 2014, https://arxiv.org/abs/1410.5401. `gaussian`: Graves,
"Generating Sequences With Recurrent Neural Networks", 2013, https://arxiv.org/abs/1308.0850.
Departs from the papers: weights begin as everywhere here, not near zero.
B batch, Q queries, K keys, A width of the score.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.config import Choice
from heedful.errors import UsageError
from heedful.nn.initial import linear, xavier
from heedful.nn.layout import Layout


class Score(Choice, ABC):
    """Which score (`--set model.score=dot`)."""

    @abstractmethod
    def build(self, query: int, key: int, coverage: bool) -> "Scorer":
        """Its weights, for queries and keys of these widths. With `coverage` it is shown how much
        each place was looked at before."""


class Known(NamedTuple):
    """What a score may look at beside query and key."""

    at: Layout  # where the keys stand
    covered: Tensor | None  # how much each place was looked at before, [B, Q, K]
    carried: Tensor | None  # what it remembered at the step before, [B, Q, ...]


Scored = tuple[Float[Tensor, "B Q K"], Tensor | None]  # and what it remembers for the next step


class Scorer(nn.Module, ABC):
    """A score's weights. What it makes of the keys is made once a source."""

    reach: int | None = None  # places it can score; None where there is no end to them
    normalised = True  # whether scores go through a softmax, or are weights themselves
    carried = 0  # numbers it remembers from step to step

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return keys

    @abstractmethod
    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        """The scores, and what is remembered."""


@dataclass(frozen=True, kw_only=True)
class Additive(Score, kind="additive"):
    """v · tanh(W q + U k)."""

    width: int = 0  # of the hidden layer; 0 for that of the query

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        return AdditiveScorer(query, key, self.width or query, coverage)


@dataclass(frozen=True, kw_only=True)
class Concat(Additive, kind="concat"):
    """v · tanh(W [q; k]): the same function by another name."""


@dataclass(frozen=True, kw_only=True)
class NormedAdditive(Additive, kind="normed_additive"):
    """g v/|v| · tanh(W q + U k + b): the length of v is learnt apart from its direction.

    Salimans and Kingma, "Weight Normalization", NeurIPS 2016, https://arxiv.org/abs/1602.07868.
    """

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        return NormedScorer(query, key, self.width or query, coverage)


@dataclass(frozen=True, kw_only=True)
class Dot(Score, kind="dot"):
    """q · k."""

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        _plain(self, query, key, coverage)
        return DotScorer()


@dataclass(frozen=True, kw_only=True)
class General(Score, kind="general"):
    """q · W k."""

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        _uncovered(self, coverage)
        return GeneralScorer(query, key)


@dataclass(frozen=True, kw_only=True)
class ScaledDot(Score, kind="scaled_dot"):
    """(W q) · (U k) / √A."""

    width: int = 0  # A; 0 for that of the query

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        _uncovered(self, coverage)
        return ScaledDotScorer(query, key, self.width or query)


@dataclass(frozen=True, kw_only=True)
class Cosine(Score, kind="cosine"):
    """β cos(q, k), where β > 0 is said by the query."""

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        _plain(self, query, key, coverage)
        return CosineScorer(query)


@dataclass(frozen=True, kw_only=True)
class Location(Score, kind="location"):
    """(W q) at the key's place, whatever stands there. Places beyond `longest` are not seen."""

    longest: int = 128

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        _uncovered(self, coverage)
        if self.longest < 1:
            raise UsageError(f"score 'location' sees 1 place or more, got {self.longest}")
        return LocationScorer(query, self.longest)


@dataclass(frozen=True, kw_only=True)
class Gaussian(Score, kind="gaussian"):
    """A few bells over the source that only move on: Σ a exp(-b (κ - place)²), not normalised."""

    bells: int = 5

    def build(self, query: int, key: int, coverage: bool) -> Scorer:
        _uncovered(self, coverage)
        if self.bells < 1:
            raise UsageError(f"score 'gaussian' has 1 bell or more, got {self.bells}")
        return GaussianScorer(query, self.bells)


def _uncovered(score: Score, coverage: bool) -> None:
    if coverage:
        raise UsageError(
            f"coverage goes into the hidden layer of a score, and '{score.kind}' has none. "
            "Use additive, concat or normed_additive"
        )


def _plain(score: Score, query: int, key: int, coverage: bool) -> None:
    _uncovered(score, coverage)
    if query != key:
        raise UsageError(
            f"score '{score.kind}' compares numbers one by one, and the decoder's state has "
            f"{query}, what the encoder puts out {key}. Use general, or make them alike"
        )


class AdditiveScorer(Scorer):
    def __init__(self, query: int, key: int, width: int, coverage: bool) -> None:
        super().__init__()
        self.to_q = linear(query, width, bias=False)
        self.to_k = linear(key, width, bias=False)
        self.v = nn.Parameter(torch.empty(1, width))
        xavier(self.v)
        self.covering = nn.Parameter(torch.empty(1, width)) if coverage else None
        if self.covering is not None:
            xavier(self.covering)

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return self.to_k(keys)

    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        inner = self.to_q(q)[:, :, None] + keys[:, None]
        if known.covered is not None and self.covering is not None:
            inner = inner + known.covered[..., None] * self.covering
        return torch.tanh(inner) @ self.weighing(), None

    def weighing(self) -> Tensor:
        return self.v[0]


class NormedScorer(AdditiveScorer):
    def __init__(self, query: int, key: int, width: int, coverage: bool) -> None:
        super().__init__(query, key, width, coverage)
        self.to_q = linear(query, width)
        self.g = nn.Parameter(torch.tensor(1.0))

    def weighing(self) -> Tensor:
        return self.g * self.v[0] / self.v.norm()


class DotScorer(Scorer):
    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        return q @ keys.mT, None


class GeneralScorer(DotScorer):
    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        self.to_k = linear(key, query, bias=False)

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return self.to_k(keys)


class ScaledDotScorer(Scorer):
    def __init__(self, query: int, key: int, width: int) -> None:
        super().__init__()
        self.to_q = linear(query, width, bias=False)
        self.to_k = linear(key, width, bias=False)
        self.scale = width**-0.5

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return self.to_k(keys)

    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        return self.to_q(q) @ keys.mT * self.scale, None


class CosineScorer(Scorer):
    def __init__(self, query: int) -> None:
        super().__init__()
        self.to_strength = linear(query, 1)
        nn.init.constant_(self.to_strength.bias, 3.0)  # cosines of 1 at most make flat weights

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return F.normalize(keys, dim=-1)

    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        strength = F.softplus(self.to_strength(q))
        return strength * (F.normalize(q, dim=-1) @ keys.mT), None


class LocationScorer(Scorer):
    def __init__(self, query: int, longest: int) -> None:
        super().__init__()
        self.reach, self.last = longest, longest - 1
        self.to_places = linear(query, longest, bias=False)

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return keys[..., :0]

    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        there = known.at.positions.clamp(max=self.last)
        return self.to_places(q).gather(2, there[:, None].expand(-1, q.shape[1], -1)), None


class GaussianScorer(Scorer):
    normalised = False

    def __init__(self, query: int, bells: int) -> None:
        super().__init__()
        self.carried = bells
        self.to_bells = linear(query, 3 * bells)

    def prepare(self, keys: Float[Tensor, "B K D"]) -> Float[Tensor, "B K A"]:
        return keys[..., :0]

    def forward(
        self, q: Float[Tensor, "B Q D"], keys: Float[Tensor, "B K A"], known: Known
    ) -> Scored:
        height, sharpness, way = self.to_bells(q).clamp(max=8.0).exp().chunk(3, -1)  # [B, Q, M]
        assert known.carried is not None
        centre = known.carried + way
        place = (known.at.positions + 1).to(q.dtype)[:, None, :, None]  # the first is 1
        bells = height[:, :, None] * torch.exp(
            -sharpness[:, :, None] * (centre[:, :, None] - place) ** 2
        )
        return bells.sum(-1), centre

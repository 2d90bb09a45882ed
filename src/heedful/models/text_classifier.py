"""A classifier of recurrent layers, with or without ELMo below them.

Wang, Singh, Michael, Hill, Levy and Bowman, "GLUE", ICLR 2019, https://arxiv.org/abs/1804.07461,
section 5: a BiLSTM, the largest of each channel, and a layer of tanh; of two texts, every word
attends to those of the other, a second BiLSTM reads both, and [u; v; |u-v|; u∘v] is what is judged.
Departs from the paper: embeddings are learnt with the task, or before it by our own language model;
the attention between texts is a dot product. B batch, L length, D model.
"""

from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.config import Choice
from heedful.modalities.spelling import Lookup, Table
from heedful.models.base import ModelConfig
from heedful.models.elmo import Elmo, ElmoConfig, ScalarMix
from heedful.nn.attention import Encoded
from heedful.nn.between import Between
from heedful.nn.cells import LSTM, Cell
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.recurrent import Bidirectional, Dropout
from heedful.nn.summaries import Pooling, summary
from heedful.registry import models
from heedful.text.base import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Features(Choice):
    """What a classifier knows of a word before it reads the text."""

    @abstractmethod
    def build(self, words: Lookup, dim: int) -> "Reading": ...


@dataclass(frozen=True, kw_only=True)
class OwnWords(Features, kind="own"):
    """Its embedding, learnt with the task."""

    def build(self, words: Lookup, dim: int) -> "Reading":
        return Reading(words, dim)


@dataclass(frozen=True, kw_only=True)
class ElmoWords(Features, kind="elmo"):
    """Its embedding, and beside it what a language model in both directions makes of it.

    The numbers are those of the run that the language model comes from (`--init`).
    """

    dim: int = 256
    layers: int = 2
    hidden: int = 1_024
    cell: Cell = field(default_factory=LSTM)
    words: Lookup = field(default_factory=Table)  # of the language model
    dropout: float = 0.5  # of what comes of it
    frozen: bool = True  # whether the language model stays as it is

    def build(self, words: Lookup, dim: int) -> "Reading":
        return ElmoReading(words, dim, self)


@dataclass(frozen=True, kw_only=True)
class TextClassifierConfig(ModelConfig, kind="text_classifier"):
    """A recurrent classifier's numbers; the defaults are the GLUE baseline's."""

    dim: int = 300  # of embeddings
    layers: int = 2
    hidden: int = 1_500  # units of a layer, in each direction
    cell: Cell = field(default_factory=LSTM)
    summary: Pooling = "max"
    outer: int = 512  # of the layer that the softmax stands on
    dropout: float = 0.2
    features: Features = field(default_factory=OwnWords)


@dataclass(frozen=True, kw_only=True)
class PairClassifierConfig(TextClassifierConfig, kind="pair_classifier"):
    """The same for two texts."""


class Reading(nn.Module):
    """Words as they are embedded."""

    borrows: dict[str, dict[str, str]] = {}

    def __init__(self, words: Lookup, dim: int) -> None:
        super().__init__()
        self.words = words
        self.dim = self.width = dim

    def table(self, vocabulary: Tokenizer | int) -> nn.Module:
        """What turns ids into what is read here."""
        return self.words.build(vocabulary, self.dim)

    def forward(self, x: Float[Tensor, "B L D"], at: Layout) -> Float[Tensor, "B L E"]:
        return x


class ElmoReading(Reading):
    """Words as they are embedded, and a mix of a language model's layers."""

    borrows = {"elmo": {"inputs.lm.": "targets.", "body.reading.lm.": "body."}}

    def __init__(self, words: Lookup, dim: int, features: ElmoWords) -> None:
        super().__init__(words, dim)
        self.config = f = features
        self.lm = Elmo(ElmoConfig(dim=f.dim, layers=f.layers, hidden=f.hidden, cell=f.cell))
        self.mix = ScalarMix(f.layers + 1)
        self.dropout = Dropout(f.dropout)
        self.width = dim + 2 * f.dim

    def table(self, vocabulary: Tokenizer | int) -> nn.Module:
        f = self.config
        return TwoTables(super().table(vocabulary), f.words.build(vocabulary, f.dim))

    def forward(self, x: Float[Tensor, "B L D"], at: Layout) -> Float[Tensor, "B L E"]:
        own, theirs = x.split([self.dim, self.config.dim], 2)
        with torch.no_grad() if self.config.frozen else nullcontext():
            layers = self.lm.layers(theirs, at)
        return torch.cat([own, self.dropout(self.mix(layers))], 2)

    def train(self, mode: bool = True) -> "ElmoReading":
        super().train(mode)
        if self.config.frozen:  # what is not learnt needs no dropout
            self.lm.eval()
        return self


class TwoTables(nn.Module):
    """Two embeddings of a symbol, side by side."""

    def __init__(self, own: nn.Module, lm: nn.Module) -> None:
        super().__init__()
        self.own, self.lm = own, lm

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L D"]:
        return torch.cat([self.own(ids), self.lm(ids)], 2)


class BiLayers(nn.Module):
    """Recurrent layers in both directions above each other, with dropout before each."""

    def __init__(self, cell: Cell, inside: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(
            Bidirectional(cell, 2 * hidden if number else inside, hidden)
            for number in range(layers)
        )

    def forward(self, x: Float[Tensor, "B L D"], at: Layout) -> Float[Tensor, "B L H2"]:
        for layer in self.layers:
            x, _, _ = layer(self.dropout(x), at, ends=False)
        return x


@models.register("text_classifier")
class TextClassifier(nn.Module):
    """A BiLSTM, summed up: one label for each text read (Wang et al. 2019)."""

    def __init__(self, config: TextClassifierConfig) -> None:
        super().__init__()
        c = config
        self.width, self.dropout = c.outer, c.dropout
        self.reading = c.features.build(c.words, c.dim)
        self.borrows = self.reading.borrows
        self.encoder = BiLayers(c.cell, self.reading.width, c.hidden, c.layers, c.dropout)
        self.pooling = summary(c.summary, 2 * c.hidden)
        self.outer = linear(2 * c.hidden, c.outer)

    def reader(self, vocabulary: Tokenizer | int) -> nn.Module:
        return self.reading.table(vocabulary)

    def encode(self, x: Float[Tensor, "B L D"], at: Layout) -> Encoded:
        return Encoded(self.encoder(self.reading(x, at), at), at)

    def summary(self, encoded: Encoded, of: Layout) -> Float[Tensor, "B T D"]:
        x = self.pooling(encoded.x, encoded.at, of)
        return F.dropout(self.outer(x).tanh(), self.dropout, self.training)


@dataclass(frozen=True, eq=False)
class Two:
    """Two texts that were read with a view to each other."""

    x: Tensor  # [B, L, D]
    first: Layout
    second: Layout


@models.register("pair_classifier")
class PairClassifier(nn.Module):
    """A BiLSTM over each of two texts, attention between them, and another: one label for both."""

    def __init__(self, config: PairClassifierConfig) -> None:
        super().__init__()
        c = config
        self.width, self.dropout = c.outer, c.dropout
        self.reading = c.features.build(c.words, c.dim)
        self.borrows = self.reading.borrows
        self.encoder = BiLayers(c.cell, self.reading.width, c.hidden, c.layers, c.dropout)
        self.between = Between()
        self.comparer = BiLayers(c.cell, 4 * c.hidden, c.hidden, 1, c.dropout)
        self.pooling = summary(c.summary, 2 * c.hidden)
        self.outer = linear(8 * c.hidden, c.outer)

    def reader(self, vocabulary: Tokenizer | int) -> nn.Module:
        return self.reading.table(vocabulary)

    def encode_two(self, x: Float[Tensor, "B L D"], first: Layout, second: Layout) -> Two:
        def of_each(part: nn.Module, x: Tensor) -> Tensor:
            one, other = part(x, first), part(x, second)
            return torch.where(second.real[..., None], other, one)

        x = of_each(self.encoder, of_each(self.reading, x))
        x = torch.cat([x, self.between(x, first, second)], 2)
        return Two(of_each(self.comparer, x), first, second)

    def summary(self, encoded: Two, of: Layout) -> Float[Tensor, "B T D"]:
        u = self.pooling(encoded.x, encoded.first, of)
        v = self.pooling(encoded.x, encoded.second, of)
        x = torch.cat([u, v, (u - v).abs(), u * v], 2)
        return F.dropout(self.outer(x).tanh(), self.dropout, self.training)

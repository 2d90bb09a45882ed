"""A word's vector from its spelling: filters over its characters, the strongest answer of each.

Kim, Jernite, Sontag and Rush, "Character-Aware Neural Language Models", AAAI 2016,
https://arxiv.org/abs/1508.06615. Hybrid: Luong and Manning, "Achieving Open Vocabulary Neural
Machine Translation with Hybrid Word-Character Models", ACL 2016, https://arxiv.org/abs/1604.00788.

Departs from the papers: a linear map brings the answers of the filters to the model's width; rare
words of a hybrid are spelt by these filters, not by an LSTM; a word too short for a filter is met
by it once, at its beginning. B batch, L length, N words, T characters, D model.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.config import Choice
from heedful.errors import UsageError
from heedful.modalities.symbols import Embedding
from heedful.nn.initial import linear
from heedful.text.base import Tokenizer
from heedful.text.specials import PAD, RESERVED

BEGIN, END, UNKNOWN = 1, 2, 3  # of the characters' ids; 0 stands where no character is
FIRST = 4  # the first that is a character's own


@dataclass(frozen=True, kw_only=True)
class Lookup(Choice):
    """Where the vector of a word that is read comes from."""

    @abstractmethod
    def build(self, vocabulary: Tokenizer | int, dim: int) -> Embedding:
        """For this vocabulary, or one of so many ids."""


@dataclass(frozen=True, kw_only=True)
class Table(Lookup, kind="table"):
    """A table with a row for each word."""

    def build(self, vocabulary: Tokenizer | int, dim: int) -> Embedding:
        return Embedding(vocabulary if isinstance(vocabulary, int) else vocabulary.size, dim)


@dataclass(frozen=True, kw_only=True)
class Characters(Lookup, kind="characters"):
    """The word's spelling, read by filters of several widths. The softmax keeps a table."""

    size: int = 15  # of a character's vector
    widths: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    filters: int = 25  # of width 1; wider ones are more, in proportion
    most: int = 200  # filters of one width
    highways: int = 1
    longest: int = 65  # characters of a word, its marks counted; what is beyond is not read
    spelt: Literal["characters", "bytes"] = "characters"

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1 or min(self.filters, self.size, self.most) < 1:
            raise UsageError(
                "model.words needs widths, filters and a size of 1 or more, got "
                f"{self.widths}, {self.filters} and {self.size}"
            )
        if self.longest < 3:
            raise UsageError(f"model.words.longest must be 3 or more, got {self.longest}")

    def build(self, vocabulary: Tokenizer | int, dim: int) -> Embedding:
        return Spelled(vocabulary, dim, self)


@dataclass(frozen=True, kw_only=True)
class Hybrid(Characters, kind="hybrid"):
    """A row for each frequent word, and the spelling of the others."""

    frequent: int = 5_000  # ids that have a row

    def build(self, vocabulary: Tokenizer | int, dim: int) -> Embedding:
        size = vocabulary if isinstance(vocabulary, int) else vocabulary.size
        if not 0 < self.frequent < size:
            raise UsageError(
                f"model.words.frequent must be from 1 to {size - 1}, for a vocabulary of {size}, "
                f"got {self.frequent}. For rows alone, set model.words=table"
            )
        return HybridEmbedding(vocabulary, dim, self)


class Spelled(Embedding):
    """Words by their spelling; its table is of characters. Padding looks up zeros."""

    spelling: Tensor

    def __init__(self, vocabulary: Tokenizer | int, dim: int, config: Characters) -> None:
        rows, alphabet = spellings(vocabulary, config)
        super().__init__(alphabet, config.size)
        self.register_buffer("spelling", rows, persistent=False)  # the vocabulary's file has it
        self.filters = nn.ModuleList(
            nn.Conv1d(config.size, min(config.most, config.filters * width), width)
            for width in config.widths
        )
        answers = sum(min(config.most, config.filters * width) for width in config.widths)
        self.highways = nn.ModuleList(Highway(answers) for _ in range(config.highways))
        self.out = linear(answers, dim, bias=False)

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L D"]:
        x = self.spell(self.spelling[ids.flatten()])
        return x.view(*ids.shape, -1).masked_fill((ids == PAD)[..., None], 0.0)

    def spell(self, characters: Int[Tensor, "N T"]) -> Float[Tensor, "N D"]:
        """The vectors of words that are spelt so, their marks included."""
        x = super().forward(characters).transpose(1, 2)
        lengths = (characters != 0).sum(1, keepdim=True)
        answers = []
        for one in self.filters:
            assert isinstance(one, nn.Conv1d)
            width = one.kernel_size[0]
            found = one(F.pad(x, (0, max(0, width - x.shape[2]))))
            begins = torch.arange(found.shape[2], device=x.device)
            inside = (begins + width <= lengths) | (begins == 0)
            answers.append(found.masked_fill(~inside[:, None], -torch.inf).amax(2))
        y = torch.cat(answers, 1).tanh()
        for highway in self.highways:
            y = highway(y)
        return self.out(y)


class HybridEmbedding(Spelled):
    """A row for each frequent word, and the spelling of the others."""

    def __init__(self, vocabulary: Tokenizer | int, dim: int, config: Hybrid) -> None:
        super().__init__(vocabulary, dim, config)
        self.frequent = Embedding(config.frequent, dim)

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L D"]:
        most = len(self.frequent.weight)
        by_row = self.frequent(ids.clamp(max=most - 1))
        return torch.where((ids < most)[..., None], by_row, super().forward(ids))


class Highway(nn.Module):
    """t ⊙ relu(W y) + (1 - t) ⊙ y: a layer that begins by letting most of its input through.

    Srivastava, Greff and Schmidhuber, "Highway Networks", 2015, https://arxiv.org/abs/1505.00387.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.change = linear(dim, dim)
        self.gate = linear(dim, dim)
        nn.init.constant_(self.gate.bias, -2.0)

    def forward(self, y: Float[Tensor, "N D"]) -> Float[Tensor, "N D"]:
        open_ = self.gate(y).sigmoid()
        return open_ * self.change(y).relu() + (1 - open_) * y


def spellings(vocabulary: Tokenizer | int, config: Characters) -> tuple[Int[Tensor, "V T"], int]:
    """How each word of a vocabulary is spelt, as ids of characters between marks, and how many
    different ids there are. Where only its size is known, a word is spelt as its number."""
    size = vocabulary if isinstance(vocabulary, int) else vocabulary.size
    if isinstance(vocabulary, int):
        words = [str(i) for i in range(size)]
    else:
        words = vocabulary.pieces(range(size))
    if config.spelt == "bytes":
        letters = [list(word.encode("utf-8")) for word in words]
        codes, alphabet = {i: FIRST + i for i in range(256)}, FIRST + 256
    else:
        letters = [list(map(ord, word)) for word in words]
        known = sorted({letter for word in letters[RESERVED:] for letter in word})
        codes, alphabet = {c: FIRST + i for i, c in enumerate(known)}, FIRST + len(known)
    room = config.longest - 2
    rows = [[BEGIN, *(codes.get(c, UNKNOWN) for c in word[:room]), END] for word in letters]
    spelt = torch.zeros(size, max(map(len, rows)), dtype=torch.long)
    for row, codes_ in zip(spelt, rows, strict=True):
        row[: len(codes_)] = torch.tensor(codes_)
    return spelt, alphabet

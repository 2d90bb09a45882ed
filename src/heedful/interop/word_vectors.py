"""Vectors of words out of a run, as other programs read them: word2vec's text format.

The first line says how many words there are and how long a vector is; each further line is a word
and its numbers, with spaces between. gensim, fastText's tools and others read it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.errors import HeedfulError, UsageError, nearest
from heedful.runs import durable
from heedful.runs.loading import load_model
from heedful.text.specials import RESERVED

CHUNK = 4_096  # words that are spelt at a time


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words, the most frequent first, and a vector of each."""

    words: list[str]
    vectors: Tensor  # [words, dim]

    def near(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words nearest to one, and the cosine of the angle to each."""
        if word not in self.words:
            raise UsageError(
                f"'{word}' is not one of the {len(self.words):,} words of this run."
                f"{nearest(word, self.words)}"
            )
        place = self.words.index(word)
        unit = F.normalize(self.vectors, dim=1)
        cosines = unit @ unit[place]
        cosines[place] = -2.0
        found = cosines.topk(min(count, len(self.words) - 1))
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        return [(self.words[i], cosine) for i, cosine in pairs]

    def lines(self) -> Iterator[str]:
        """The lines of word2vec's text format."""
        yield f"{len(self.words)} {self.vectors.shape[1]}"
        for word, vector in zip(self.words, self.vectors.tolist(), strict=True):
            if not word or any(character.isspace() for character in word):
                raise HeedfulError(
                    f"'{word}' has a space in it, which word2vec's text format cannot hold. "
                    "Vectors can be written of words, characters without spaces, and symbols"
                )
            yield " ".join([word, *(f"{number:.6g}" for number in vector)])


def vectors_of(
    run: Path, checkpoint: str | None = None, warn: Callable[[str], None] = lambda _: None
) -> WordVectors:
    """The vectors that a run's model reads its words with, from a table or by their spelling."""
    loaded = load_model(run, checkpoint, "cpu", warn)
    side = "inputs" if loaded.model.inputs is not None else "targets"
    tokenizer, table = loaded.tokenizers[side], getattr(loaded.model, side)
    words = tokenizer.pieces(range(RESERVED, tokenizer.size))
    with torch.no_grad():
        ids = torch.arange(RESERVED, tokenizer.size)
        vectors = torch.cat([table(part[None])[0] for part in ids.split(CHUNK)])
    return WordVectors(words, vectors)


def write_vectors(found: WordVectors, path: Path) -> None:
    """Write them as a file, whole or not at all."""
    try:
        durable.write_file(path, "".join(f"{line}\n" for line in found.lines()))
    except OSError as error:
        raise HeedfulError(f"could not write {path}: {error.strerror}") from error

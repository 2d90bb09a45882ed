"""Tokens as a person reads them: their names, and which of them are one word.

What is said to a word is said to all of its tokens, so weights are summed over the tokens of a key
and averaged over those of a query (Clark et al., "What Does BERT Look At?", BlackboxNLP 2019,
https://arxiv.org/abs/1906.04341, section 4.1). Q queries, K keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heedful.text.base import Tokenizer
from heedful.text.specials import RESERVED
from heedful.text.two_texts import TwoTextsTokenizer

WHOLE = ("words", "symbols", "performance", "chorale")  # whose every token is a word
INSIDE = "'’-"  # marks that do not part a word


@dataclass(frozen=True)
class Side:
    """The tokens on one side of a picture, and the number of the word that each is part of."""

    tokens: tuple[str, ...]
    words: tuple[int, ...]

    @property
    def joined(self) -> list[str]:
        """The words."""
        found = [""] * (self.words[-1] + 1 if self.words else 0)
        for token, word in zip(self.tokens, self.words, strict=True):
            found[word] += token.removeprefix("##") if found[word] else token
        return [word.strip() or word for word in found]

    def __add__(self, other: "Side") -> "Side":
        first = self.words[-1] + 1 if self.words else 0
        return Side(self.tokens + other.tokens, (*self.words, *(first + w for w in other.words)))

    def to_json(self) -> dict[str, Any]:
        return {"tokens": list(self.tokens), "words": list(self.words), "joined": self.joined}


def side(tokenizer: Tokenizer, ids: Sequence[int]) -> Side:
    """The tokens of these ids, and their words."""
    if isinstance(tokenizer, TwoTextsTokenizer):
        tokenizer = tokenizer.plain
    pieces = tokenizer.pieces(ids)
    numbers: list[int] = []
    for place, (number, piece) in enumerate(zip(ids, pieces, strict=True)):
        special = number < RESERVED or (place > 0 and ids[place - 1] < RESERVED)
        begins = place == 0 or special or tokenizer.kind in WHOLE
        if begins or not _goes_on(pieces[place - 1], piece):
            numbers.append(len(set(numbers)))
        else:
            numbers.append(numbers[-1])
    return Side(tuple(pieces), tuple(numbers))


def alone(*tokens: str) -> Side:
    """Tokens that are a word each."""
    return Side(tokens, tuple(range(len(tokens))))


def joined(weights: np.ndarray, queries: Side, keys: Side) -> np.ndarray:
    """Weights between tokens, [..., Q, K], as weights between words."""
    onto = _members(keys)
    by = _members(queries)
    return (by / by.sum(0)).T @ weights @ onto


def _members(side: Side) -> np.ndarray:
    """[tokens, words]: 1 where a token is part of a word."""
    words = np.asarray(side.words, dtype=int)
    return (words[:, None] == np.arange(words.max(initial=-1) + 1)).astype(np.float64)


def _goes_on(before: str, piece: str) -> bool:
    """Whether a piece goes on the word that the piece before it was part of."""
    if piece.startswith("##"):
        return True
    if before.isspace():  # a space by itself stands before its word
        return not piece[:1].isspace()
    return bool(before) and bool(piece) and _inside(before[-1]) and _inside(piece[0])


def _inside(character: str) -> bool:
    return character.isalnum() or character in INSIDE

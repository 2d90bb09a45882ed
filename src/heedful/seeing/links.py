"""Links: which word of the source each word of an output looks at most, and whether that is right.

What a token is is the tokenizer's affair, what a word is the reader's: a token belongs to a word by
the letters they share. Q words said, K words read.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.nn.telling import CROSS
from heedful.seeing.attention import look

Span = tuple[int, int]  # where a word begins in a text, and where it ends


def word_weights(
    translator: Translator, text: str, target: str, words: Sequence[Span], said: Sequence[Span]
) -> np.ndarray:
    """How much each word of the target looks at each of the text, [Q, K], when its first piece is
    said: which word it is to be is decided there, and the other pieces follow."""
    seen = look(translator, text, target)
    if all(one.kind != CROSS for one in seen.attended):
        raise UsageError(f"a model of the kind '{seen.model}' does not look at a source")
    found = seen.of(CROSS)
    read = shares(found.keys.tokens[:-1], text, words)
    written = beginnings(shares(found.queries.tokens[:-1], target, said))
    weights = found.mean()[:-1, :-1]  # without the ends
    return written.T @ weights @ read


def shares(tokens: Sequence[str], text: str, words: Sequence[Span]) -> np.ndarray:
    """Which share of each token's letters is in each word, [tokens, words]."""
    found = np.zeros((len(tokens), len(words)))
    for number, (begin, end) in enumerate(places(tokens, text)):
        letters = [place for place in range(begin, end) if not text[place].isspace()]
        for word, (first, last) in enumerate(words):
            inside = sum(first <= letter < last for letter in letters)
            found[number, word] = inside / len(letters) if letters else 0.0
    return found


def beginnings(shares: np.ndarray) -> np.ndarray:
    """1 at the first token of each word, [tokens, words]."""
    there = shares > 0
    return (there & (there.cumsum(0) == 1)).astype(float)


def places(tokens: Sequence[str], text: str) -> list[Span]:
    """Where in the text each token stands; where letters stand, for tokens that are their bytes."""
    found: list[Span] = []
    bytes_of: list[int] = []  # tokens that spell nothing, since the last that did
    begin = 0
    for number, token in enumerate(tokens):
        most = len(bytes_of) // 2  # a letter that is spelt in bytes has two or more
        ahead = [gap for gap in range(bool(most), most + 1) if text.startswith(token, begin + gap)]
        if ahead:
            for earlier in bytes_of:
                found[earlier] = (begin, begin + ahead[0])
            begin += ahead[0]
            found.append((begin, begin + len(token)))
            begin, bytes_of = begin + len(token), []
        else:
            found.append((begin, begin))
            bytes_of.append(number)
    for earlier in bytes_of:
        found[earlier] = (begin, len(text))
    if not bytes_of and begin != len(text):
        raise HeedfulError(f"the tokens of '{text}' spell only '{text[:begin]}'")
    return found


def both_ways(weights: np.ndarray) -> np.ndarray:
    """How much each word said looks at each word read, times its share of all that looks at that.

    An article looks at its noun for its gender, but most of what looks at the noun is the noun. A
    word that looks at nothing in particular has a large share of what nobody looks at. So where
    both are large there is more often what a word was made from than where either is.
    """
    all_of_it = weights.sum(0, keepdims=True)
    found: np.ndarray = weights * weights / np.where(all_of_it > 0, all_of_it, 1.0)
    return found


def right(weights: np.ndarray, links: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Of how many words the strongest link is a true one, and how many have any.

    Links are pairs of a word read and a word said.
    """
    true: dict[int, set[int]] = {}
    for read, said in links:
        true.setdefault(said, set()).add(read)
    good = sum(int(weights[said].argmax()) in reads for said, reads in true.items())
    return good, len(true)

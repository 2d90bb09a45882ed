"""A dictionary of two languages, learnt from their sentences by what comes together: IBM's Model 1.

Brown, Della Pietra, Della Pietra and Mercer, "The Mathematics of Statistical Machine Translation",
Computational Linguistics 1993. It knows nothing of where words stand, so it may judge those who do.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

LEAST = 0.2  # of a word's meanings, for one to be taken
COMMON = 30  # words that say more about their neighbours than about anything: they have no entry
ROUNDS = 5

Words = Sequence[str]
Chances = dict[tuple[str, str], float]  # of a word of one language to be said for one of another


@dataclass(frozen=True)
class Dictionary:
    """How likely words are said for each other, both ways."""

    there: Chances
    back: Chances

    @classmethod
    def learnt(cls, pairs: Iterable[tuple[Words, Words]], common: int = COMMON) -> "Dictionary":
        there = [(one, other) for one, other in pairs if one and other]
        back = [(other, one) for one, other in there]
        left_out = commonest(there, common), commonest(back, common)
        return cls(without(chances(there), *left_out), without(chances(back), *left_out[::-1]))

    def links(self, source: Words, target: Words) -> tuple[tuple[int, int], ...]:
        """Words of a source and of its translation that mean each other, and stand there once."""
        read, said = Counter(source), Counter(target)
        found = {
            (i, j): self.there[one, other] * self.back[other, one]
            for i, one in enumerate(source)
            for j, other in enumerate(target)
            if (one, other) in self.there and (other, one) in self.back
        }
        return tuple(
            (i, j)
            for (i, j), chance in found.items()
            if read[source[i]] == said[target[j]] == 1
            and all(chance >= found[a, b] for a, b in found if a == i or b == j)
        )


def commonest(pairs: Iterable[tuple[Words, Words]], count: int) -> set[str]:
    """The words of the first language that come most often."""
    return {word for word, _ in Counter(w for words, _ in pairs for w in words).most_common(count)}


def without(known: Chances, words: set[str], others: set[str]) -> Chances:
    """The same but for some words of either language."""
    return {
        (one, other): chance
        for (one, other), chance in known.items()
        if one not in words and other not in others
    }


def chances(pairs: Sequence[tuple[Words, Words]]) -> Chances:
    """How likely each word of the first language is said as one of the second, from LEAST on."""
    ids: list[dict[str, int]] = [{}, {}]
    numbered = [
        [
            np.array([known.setdefault(word, len(known)) for word in words])
            for words, known in zip(pair, ids, strict=True)
        ]
        for pair in pairs
    ]
    if not numbered:
        return {}
    # Every word that is said beside every one that was read, of each sentence.
    one = np.concatenate([np.tile(a, len(b)) for a, b in numbered])
    other = np.concatenate([np.repeat(b, len(a)) for a, b in numbered])
    spread = np.concatenate([np.full(len(b), len(a)) for a, b in numbered])
    place = np.repeat(np.arange(len(spread)), spread)
    kinds, kind = np.unique(one.astype(np.int64) * len(ids[1]) + other, return_inverse=True)
    first = kinds // len(ids[1])
    chance = np.ones(len(kinds))
    for _ in range(ROUNDS):
        share = chance[kind]
        share /= np.bincount(place, share)[place]
        seen = np.bincount(kind, share)
        chance = seen / np.bincount(first, seen)[first]
    names = [list(known) for known in ids]
    return {
        (names[0][first[i]], names[1][kinds[i] % len(ids[1])]): float(chance[i])
        for i in np.flatnonzero(chance >= LEAST)
    }

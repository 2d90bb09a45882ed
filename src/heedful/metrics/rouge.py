"""ROUGE-1, -2 and -L: how much of a summary's words, word pairs and word order is there.

Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", ACL workshop 2004,
https://aclanthology.org/W04-1013.

Each is the mean over lines of the F1 of precision and recall, in percent. Words are runs of letters
and digits in lower case; there is no stemming and no list of stop words. On English text this is
what Google's rouge_score computes without its stemmer (that one takes a letter with an accent for
a space). A line in which there is nothing to count (no word; for ROUGE-2, no pair) gets 0.
"""

import re
from collections import Counter
from collections.abc import Sequence

from heedful.metrics.shares import share

_WORD = re.compile(r"[^\W_]+")


@share("rouge1")
def rouge1(hypothesis: str, reference: str) -> tuple[float, float]:
    """ROUGE-1: the F1 of single words, lower-cased, not stemmed; the mean over lines."""
    return _overlap(words(hypothesis), words(reference)), 1


@share("rouge2")
def rouge2(hypothesis: str, reference: str) -> tuple[float, float]:
    """ROUGE-2: the F1 of pairs of neighbouring words; the mean over lines."""
    return _overlap(_pairs(words(hypothesis)), _pairs(words(reference))), 1


@share("rougeL")
def rouge_l(hypothesis: str, reference: str) -> tuple[float, float]:
    """ROUGE-L: the F1 of the longest common subsequence of words; the mean over lines."""
    said, meant = words(hypothesis), words(reference)
    return _f1(longest_common(said, meant), len(said), len(meant)), 1


def words(text: str) -> list[str]:
    """The words that ROUGE sees.

    >>> words("Don't stop: l'été_2")
    ['don', 't', 'stop', 'l', 'été', '2']
    """
    return _WORD.findall(text.lower())


def longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest subsequence of both, a row of the table at a time, as bits.

    Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004.

    >>> longest_common("the cat sat".split(), "the fat cat sat".split())
    3
    """
    places: dict[str, int] = {}
    for i, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << i
    every = (1 << len(a)) - 1
    row = every
    for word in b:
        hits = row & places.get(word, 0)
        row = (row + hits) | (row - hits)
    return (~row & every).bit_count()


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(zip(words, words[1:], strict=False))


def _overlap(said: Sequence[object], meant: Sequence[object]) -> float:
    return _f1((Counter(said) & Counter(meant)).total(), len(said), len(meant))


def _f1(common: int, said: int, meant: int) -> float:
    """2PR / (P + R), with P = common / said and R = common / meant."""
    return 2 * common / (said + meant) if common else 0.0

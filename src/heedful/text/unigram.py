"""Unigram pieces by expectation and pruning: keep what the text is least willing to lose.

Kudo, "Subword Regularization", ACL 2018, https://arxiv.org/abs/1804.10959, section 3.2. The trainer
of the `tokenizers` library adds up in the order of a hash map with a random seed, so that two runs
on one text differ; this one gives the same pieces every time, and lets that library segment.

Departs from the paper: each word counts for its best segmentation only (hard EM), not for all.
"""

import math
from collections import Counter
from collections.abc import Sequence

from tokenizers import Tokenizer as Segmenter
from tokenizers.models import Unigram

LONGEST = 16  # characters in a piece
SEEDS = 8  # pieces to begin with, as a multiple of those asked for
SEED_WORDS = 200_000  # seeds come from the most frequent words, so that memory has a bound
KEPT = 0.75  # of the pieces, after each round of pruning
DIGITS = 9  # of a log probability, after the point
NEVER_SEEN = 0.5  # what a piece that must stay is counted as when no word uses it


def train(words: Counter[str], size: int, alphabet: Sequence[str]) -> list[tuple[str, float]]:
    """At most `size` pieces with their log probabilities, the likeliest first.

    Every symbol of the alphabet is among them, so that any word over it can be segmented.
    """
    base = set(alphabet)
    ranked = sorted(words, key=lambda word: (-words[word], word))
    pieces = dict.fromkeys(sorted(base), 0.0) | _seeds(ranked, words, SEEDS * size, base)
    scores = _scores({piece: max(count, NEVER_SEEN) for piece, count in pieces.items()})
    while True:
        used = _usage(scores, ranked, words)
        used = {piece: count for piece, count in used.items() if count or piece in base}
        scores = _scores({piece: max(n, NEVER_SEEN) for piece, n in used.items()})
        if len(scores) <= size:
            break
        scores = _pruned(scores, used, max(size, int(KEPT * len(scores))), base)
    final = _scores({p: max(n, NEVER_SEEN) for p, n in _usage(scores, ranked, words).items()})
    # Few digits, because the library that reads them back gets the last of many wrong.
    rounded = [(piece, round(score, DIGITS)) for piece, score in final.items()]
    return sorted(rounded, key=lambda item: (-item[1], item[0]))


def _seeds(ranked: list[str], words: Counter[str], most: int, base: set[str]) -> dict[str, float]:
    """The substrings that cover most of the text, each with how often it occurs."""
    counts: Counter[str] = Counter()
    for word in ranked[:SEED_WORDS]:
        often = words[word]
        for start in range(len(word)):
            for end in range(start + 1, min(start + LONGEST, len(word)) + 1):
                counts[word[start:end]] += often
    # What occurs once stands for itself and teaches nothing; single symbols are there anyway.
    worth = [piece for piece, n in counts.items() if len(piece) > 1 and n > 1]
    worth.sort(key=lambda piece: (-counts[piece] * len(piece), piece))
    return {piece: float(counts[piece]) for piece in [*sorted(base), *worth[:most]]}


def _usage(scores: dict[str, float], ranked: list[str], words: Counter[str]) -> dict[str, float]:
    """How often each piece is used when every word is cut in its likeliest way."""
    pieces = list(scores)
    segmenter = Segmenter(Unigram(list(scores.items()), unk_id=0))
    counts = [0] * len(pieces)
    for start in range(0, len(ranked), _BATCH):
        some = ranked[start : start + _BATCH]
        for word, cut in zip(some, segmenter.encode_batch_fast(some), strict=True):
            for i in cut.ids:
                counts[i] += words[word]
    return dict(zip(pieces, map(float, counts), strict=True))


_BATCH = 10_000


def _scores(counts: dict[str, float]) -> dict[str, float]:
    total = math.log(math.fsum(counts.values()))
    return {piece: math.log(count) - total for piece, count in counts.items()}


def _pruned(
    scores: dict[str, float], used: dict[str, float], keep: int, base: set[str]
) -> dict[str, float]:
    """The pieces whose loss would cost the text's likelihood most, and the alphabet."""
    loss = {
        piece: used[piece] * (score - _without(piece, scores))
        for piece, score in scores.items()
        if piece not in base
    }
    best = sorted(loss, key=lambda piece: (-loss[piece], piece))[: keep - len(base)]
    return {piece: scores[piece] for piece in [*sorted(base), *best]}


def _without(piece: str, scores: dict[str, float]) -> float:
    """The log probability of the best way to write `piece` with other pieces."""
    best = [0.0] + [-math.inf] * len(piece)
    for end in range(1, len(piece) + 1):
        for start in range(end):
            score = scores.get(piece[start:end])
            if score is not None and end - start < len(piece):
                best[end] = max(best[end], best[start] + score)
    return best[-1]

"""Unigram pieces: the alphabet stays, the useful is kept, the order of words does not matter."""

import itertools
import math
import random
from collections import Counter

import pytest
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from heedful.text import unigram

LETTERS = "abcdefg"


def some_words(seed: int = 1) -> Counter[str]:
    """Words put together from a few stems and endings, some more often than others."""
    rng = random.Random(seed)
    stems = ["".join(rng.choices(LETTERS, k=rng.randint(2, 6))) for _ in range(30)]
    endings = ["", "ab", "gag", "fed"]
    words = Counter({a + b: rng.randint(1, 40) for a, b in itertools.product(stems, endings)})
    return words


def test_pieces_are_as_many_as_asked_with_the_alphabet_among_them() -> None:
    for size in (7, 12, 40):
        pieces = unigram.train(some_words(), size, LETTERS)
        assert len(pieces) <= size
        assert set(LETTERS) <= {piece for piece, _ in pieces}
        assert [score for _, score in pieces] == sorted((s for _, s in pieces), reverse=True)
        assert math.fsum(math.exp(score) for _, score in pieces) == pytest.approx(1)
    assert len(unigram.train(some_words(), 12, LETTERS)) == 12


def test_frequent_endings_become_pieces() -> None:
    pieces = {piece for piece, _ in unigram.train(some_words(), 40, LETTERS)}
    assert {"gag", "fed"} <= pieces


def test_the_order_in_which_words_came_does_not_matter() -> None:
    words = list(some_words().items())
    wanted = unigram.train(Counter(dict(words)), 20, LETTERS)
    for seed in range(3):
        random.Random(seed).shuffle(words)
        assert unigram.train(Counter(dict(words)), 20, LETTERS) == wanted


def test_more_pieces_write_the_words_in_fewer() -> None:
    words = some_words()
    lengths = []
    for size in (7, 20, 60):
        scores = dict(unigram.train(words, size, LETTERS))
        lengths.append(sum(unigram._usage(scores, sorted(words), words).values()))
    assert lengths[0] > lengths[1] > lengths[2]


def test_the_next_best_way_to_write_a_piece_is_the_best_of_all_others() -> None:
    scores = dict(unigram.train(some_words(), 40, LETTERS))
    for piece in (p for p in scores if len(p) > 1):
        ways = [
            [piece[i:j] for i, j in itertools.pairwise((0, *cuts, len(piece)))]
            for n in range(1, len(piece))
            for cuts in itertools.combinations(range(1, len(piece)), n)
        ]
        possible = [sum(scores[p] for p in way) for way in ways if all(p in scores for p in way)]
        assert unigram._without(piece, scores) == pytest.approx(max(possible))


def test_the_library_reads_back_the_scores_it_wrote() -> None:
    for seed in range(20):
        pieces = unigram.train(some_words(seed), 100, LETTERS)
        written = Tokenizer(Unigram(pieces, unk_id=0)).to_str()
        assert Tokenizer.from_str(written).to_str() == written

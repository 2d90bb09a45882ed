"""Made-up sentences have the lengths and words that they say."""

import random
from itertools import islice

import numpy as np
import pytest

from heedful.bench.sentences import SIGMA, MadeUp
from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN


def test_lengths_are_like_those_of_real_pairs() -> None:
    problem, rng = MadeUp(), random.Random(1)
    drawn = np.array([problem.lengths(rng) for _ in range(20_000)])
    sources, targets = np.log(drawn).T
    assert 26 < drawn[:, 1].mean() < 28 and 26 < drawn[:, 0].mean() < 28
    assert abs(targets.std() - SIGMA) < 0.02
    assert 0.88 < np.corrcoef(sources, targets)[0, 1] < 0.92
    assert drawn.min() >= 2 and drawn.max() <= 256


def test_examples_have_those_lengths_but_for_their_ends_and_known_words() -> None:
    problem = MadeUp(vocabulary=100, mean=10, longest=20)
    found = list(islice(problem.examples(TRAIN, random.Random(1)), 500))
    words = [word for pair in found for side in pair.values() for word in side]
    assert {min(words), max(words)} == {0, 96}
    assert max(len(pair["inputs"]) for pair in found) == 19
    counts = np.bincount(words)
    assert counts[0] > 1.5 * counts[1] > 0  # by Zipf's law twice as many


def test_they_are_the_same_each_time_and_differ_by_split_and_seed() -> None:
    def first(problem: MadeUp, split: str = TRAIN) -> object:
        return next(problem.examples(split, random.Random(7)))

    assert first(MadeUp()) == first(MadeUp())
    assert first(MadeUp()) != first(MadeUp(), TEST)
    assert first(MadeUp()) != first(MadeUp(seed=2))


@pytest.mark.parametrize("changes", [{"vocabulary": 3}, {"mean": 1.0}, {"mean": 30, "longest": 20}])
def test_what_cannot_be_is_refused(changes: dict) -> None:
    with pytest.raises(UsageError):
        MadeUp(**changes)

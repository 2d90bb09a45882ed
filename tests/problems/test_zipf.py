"""Made-up texts have the frequencies, classes and topics that they say."""

import random
from collections import Counter
from itertools import islice, pairwise

import pytest

from heedful.errors import UsageError
from heedful.problems.zipf import PlantedTopics, ZipfLM


def texts(problem, count: int, split: str = "train") -> list[list[int]]:
    found = islice(problem.examples(split, random.Random(1)), count)
    return [example["targets"] for example in found]


@pytest.mark.parametrize("problem", [ZipfLM(symbols=500), PlantedTopics(symbols=500)], ids=str)
def test_words_come_by_rank_about_one_by_it(problem) -> None:
    counts = Counter(word for text in texts(problem, 2_000) for word in text)
    assert set(counts) <= set(range(500))
    for one, other in ((0, 40), (1, 81), (20, 100)):  # of one class and one topic
        assert problem.group(one) == problem.group(other)
        assert counts[one] / counts[other] == pytest.approx((other + 1) / (one + 1), rel=0.35)


def test_a_class_follows_from_the_last_nine_times_in_ten() -> None:
    problem = ZipfLM(symbols=500)
    pairs = [pair for text in texts(problem, 500) for pair in pairwise(text)]
    follows = sum(problem.group(b) == problem.after(problem.group(a)) for a, b in pairs)
    assert follows / len(pairs) == pytest.approx(0.9 + 0.1 / 20, abs=0.01)
    assert len({problem.after(group) for group in range(20)}) == 20


def test_most_words_of_a_passage_are_of_one_topic() -> None:
    problem = PlantedTopics()
    shares = []
    for text in texts(problem, 500):
        assert len(text) == 20
        shares.append(Counter(map(problem.group, text)).most_common(1)[0][1] / 20)
    assert sum(shares) / len(shares) == pytest.approx(0.72, abs=0.03)


def test_splits_differ_and_are_the_same_each_time() -> None:
    problem = ZipfLM()
    assert texts(problem, 3) == texts(problem, 3) != texts(problem, 3, "test")


def test_more_groups_than_words_are_refused() -> None:
    with pytest.raises(UsageError, match=r"problem.topics must be from 1 to problem.symbols=10"):
        PlantedTopics(symbols=10)

"""Recall: the first symbols again, after as many others as were asked for."""

import random
from itertools import islice

import pytest

from heedful.errors import UsageError
from heedful.problems.recall import Recall


def test_targets_are_the_first_of_the_inputs() -> None:
    problem = Recall(distance=5, kept=3, symbols=4)
    for example in islice(problem.examples("train", random.Random(1)), 20):
        assert len(example["inputs"]) == 8
        assert example["targets"] == example["inputs"][:3]
        assert set(example["inputs"]) <= set(range(4))


def test_it_has_the_usual_splits() -> None:
    assert Recall(test_examples=7).sizes == {"train": 100_000, "valid": 200, "test": 7}
    assert set(Recall().features) == {"inputs", "targets"}


@pytest.mark.parametrize("wrong", [{"distance": -1}, {"kept": 0}, {"symbols": 1}])
def test_what_cannot_be_is_said(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="distance must be 0 or more"):
        Recall(**wrong)

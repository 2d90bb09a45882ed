"""Copying beyond the lengths trained on."""

import random
from itertools import islice

import pytest

from heedful.errors import UsageError
from heedful.registry import problems


def test_long_splits_are_of_one_length_that_training_never_shows_and_differ() -> None:
    problem = problems.get("copy_longer")()
    splits = {"train": set(range(1, 33)), "valid_long": {64}, "test_long": {64}}
    assert splits.keys() <= problem.sizes.keys()
    for split, lengths in splits.items():
        drawn = list(islice(problem.examples(split, random.Random(1)), 500))
        assert all(one["inputs"] == one["targets"] for one in drawn)
        assert {len(one["inputs"]) for one in drawn} == lengths
        assert max(max(one["inputs"]) for one in drawn) == 99
    long = [next(problem.examples(split, random.Random(1))) for split in list(splits)[1:]]
    assert long[0] != long[1]
    with pytest.raises(UsageError, match="no split named 'far'"):
        next(problem.examples("far", random.Random(1)))

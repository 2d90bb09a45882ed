"""Copying beyond the lengths trained on."""

import random
from itertools import islice

import pytest

from heedful.errors import UsageError
from heedful.registry import problems


def test_the_long_split_is_of_one_length_that_training_never_shows() -> None:
    problem = problems.get("copy_longer")()
    for split, lengths in {"train": set(range(1, 33)), "test_long": {64}}.items():
        drawn = list(islice(problem.examples(split, random.Random(1)), 500))
        assert all(one["inputs"] == one["targets"] for one in drawn)
        assert {len(one["inputs"]) for one in drawn} == lengths
        assert max(max(one["inputs"]) for one in drawn) == 99
    with pytest.raises(UsageError, match="no split named 'far'"):
        next(problem.examples("far", random.Random(1)))

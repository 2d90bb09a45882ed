"""Copying digits: lengths, splits, and that nothing but a copy is asked for."""

import random
from itertools import islice

import pytest

from heedful.errors import UsageError
from heedful.problems.copying import CopyDigits
from heedful.registry import problems


def drawn(split: str, seed: int = 1, count: int = 200, **fields: int) -> list[dict]:
    return list(islice(CopyDigits(**fields).examples(split, random.Random(seed)), count))


def test_targets_are_the_inputs_and_lengths_are_those_asked_for() -> None:
    for split, lengths in {
        "train": set(range(5, 16)),
        "test_10": {10},
        "test_15": {15},
        "test_30": {30},
    }.items():
        examples = drawn(split)
        assert all(example["inputs"] == example["targets"] for example in examples)
        assert {len(example["inputs"]) for example in examples} == lengths
    assert {digit for example in drawn("train") for digit in example["inputs"]} == set(range(10))


def test_splits_differ_and_a_seed_gives_the_same_again() -> None:
    assert drawn("train") == drawn("train") != drawn("valid")
    assert drawn("train", seed=2) != drawn("train")


def test_it_is_found_by_its_name_and_says_what_it_cannot_be() -> None:
    assert problems.get("copy_digits")() == CopyDigits()
    with pytest.raises(UsageError, match="longest no less"):
        CopyDigits(shortest=5, longest=4)
    with pytest.raises(UsageError, match="no split named 'test_40'"):
        next(CopyDigits().examples("test_40", random.Random(1)))

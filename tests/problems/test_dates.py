"""Dates: every form says the day, and no day is in two splits."""

import random
import re
from datetime import date
from itertools import islice

import pytest

from heedful.errors import UsageError
from heedful.problems.dates import FORMS, MONTHS, DateNormalise, split_of, written
from heedful.registry import problems

SPLITS = ("train", "valid", "test")


def drawn(split: str, count: int = 400) -> list[dict]:
    return list(islice(DateNormalise().examples(split, random.Random(1)), count))


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("{nth} of {month} {year}", "3rd of March 1998"),
        ("{weekday}, {month} {day}, {year}", "Tuesday, March 3, 1998"),
        ("{day}.{number}.{year}", "3.3.1998"),
        ("{day2}/{number2}/{year}", "03/03/1998"),
        ("{mon} {day}, {year}", "Mar 3, 1998"),
    ],
)
def test_a_day_is_written_as_people_do(form: str, said: str) -> None:
    assert form in FORMS and written(date(1998, 3, 3), form) == said


@pytest.mark.parametrize(
    ("day", "said"),
    [(1, "1st"), (2, "2nd"), (11, "11th"), (13, "13th"), (22, "22nd"), (23, "23rd"), (30, "30th")],
)
def test_days_are_counted_in_english(day: int, said: str) -> None:
    assert written(date(1998, 1, day), "{nth}") == said


def test_the_target_is_the_day_that_was_written() -> None:
    for example in drawn("train"):
        day = date.fromisoformat(example["targets"])
        numbers = [int(n) for n in re.findall(r"\d+", example["inputs"])]
        assert numbers[-1] == day.year and day.day in numbers
        named = any(month[:3] in example["inputs"] for month in MONTHS)
        assert MONTHS[day.month - 1][:3] in example["inputs"] if named else day.month in numbers


def test_no_day_is_in_two_splits_and_most_are_for_training() -> None:
    days = {split: {example["targets"] for example in drawn(split)} for split in SPLITS}
    assert not (
        days["train"] & days["test"]
        or days["train"] & days["valid"]
        or days["valid"] & days["test"]
    )
    kinds = [split_of(number) for number in range(2_000)]
    assert [kinds.count(split) for split in SPLITS] == [1_800, 100, 100]


def test_it_is_found_by_its_name() -> None:
    assert problems.get("date_normalise")() == DateNormalise()
    with pytest.raises(UsageError, match="no split named 'dev'"):
        next(DateNormalise().examples("dev", random.Random(1)))

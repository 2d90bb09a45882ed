"""Dates as people write them, to dates as machines do: a character at a time."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.chars import Characters

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
FORMS = (
    "{day} {month} {year}",
    "{nth} of {month} {year}",
    "{nth} {month} {year}",
    "{month} {day}, {year}",
    "{month} {nth}, {year}",
    "{weekday}, {day} {month} {year}",
    "{weekday}, {month} {day}, {year}",
    "{day} {mon} {year}",
    "{mon} {day}, {year}",
    "{day}.{number}.{year}",
    "{day2}/{number2}/{year}",
)
FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
OF = 20  # of so many days, one is kept for each of valid and test


@problems.register("date_normalise")
@dataclass(frozen=True, kw_only=True)
class DateNormalise(Problem):
    """3rd of March 1998 → 1998-03-03, in eleven ways of writing. No day of the valid or test split
    is ever shown in training."""

    train_examples: int = 10_000
    valid_examples: int = 200
    test_examples: int = 1_000

    metrics: ClassVar[tuple[str, ...]] = ("exact_match", "token_accuracy")

    @property
    def features(self) -> dict[str, Feature]:
        feature = Feature(Characters())
        return {"inputs": feature, "targets": feature}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        if split not in self.sizes:
            raise UsageError(f"no split named '{split}'. There are: {', '.join(self.sizes)}")
        span = (LAST - FIRST).days
        while True:
            number = rng.randint(0, span)
            if split_of(number) == split:
                day = FIRST + timedelta(days=number)
                yield {"inputs": written(day, rng.choice(FORMS)), "targets": day.isoformat()}


def split_of(number: int) -> str:
    """Which split a day belongs to, by its number since the first."""
    return {0: TEST, 1: VALID}.get(number * 7 % OF, TRAIN)


def written(day: date, form: str) -> str:
    """A day in one of the forms."""
    month = MONTHS[day.month - 1]
    return form.format(
        day=day.day,
        day2=f"{day.day:02}",
        nth=f"{day.day}{ending(day.day)}",
        month=month,
        mon=month[:3],
        number=day.month,
        number2=f"{day.month:02}",
        weekday=DAYS[day.weekday()],
        year=day.year,
    )


def ending(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    if number in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")

"""Targets: what must hold of the measured numbers, each a small value that can say itself."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from heedful.claims.base import Number, Numbers, Target


@dataclass(frozen=True)
class AtLeast:
    """A number's mean over seeds is this or more."""

    number: str
    value: float

    def check(self, numbers: Numbers) -> str:
        return _compared(self.number, numbers, self.value, 1)

    def said(self) -> str:
        return f"{self.number} ≥ {self.value:g}"

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number, "at_least": self.value}


@dataclass(frozen=True)
class AtMost:
    """A number's mean over seeds is this or less."""

    number: str
    value: float

    def check(self, numbers: Numbers) -> str:
        return _compared(self.number, numbers, self.value, -1)

    def said(self) -> str:
        return f"{self.number} ≤ {self.value:g}"

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number, "at_most": self.value}


@dataclass(frozen=True)
class Beats:
    """Of two numbers measured under one budget, the first is higher, by `by` or more."""

    number: str
    other: str
    by: float = 0.0

    def check(self, numbers: Numbers) -> str:
        for name in (self.number, self.other):
            if not _known(numbers.get(name)):
                return f"{name} was not measured"
        ours, theirs = numbers[self.number].mean, numbers[self.other].mean
        ahead = ours - theirs
        if ahead > 0 and ahead >= self.by:
            return ""
        return f"{self.number} is {ours:.4g}, {self.other} is {theirs:.4g}"

    def said(self) -> str:
        return f"{self.number} > {self.other}{f' by {self.by:g} or more' if self.by else ''}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """Whether all targets hold, and what is wrong with those that do not."""

    reached: bool
    reason: str = ""


def judge(targets: Iterable[Target], numbers: Numbers) -> Verdict:
    """Every target must hold; a number that is missing is one that does not."""
    wrong = [f"{target.said()}: {why}" for target in targets if (why := target.check(numbers))]
    return Verdict(not wrong, "; ".join(wrong))


def _known(number: Number | None) -> bool:
    return number is not None and bool(number.by_seed) and not math.isnan(number.mean)


def _compared(name: str, numbers: Numbers, value: float, sign: int) -> str:
    number = numbers.get(name)
    if number is None or not _known(number):
        return f"{name} was not measured"
    return "" if sign * (number.mean - value) >= 0 else f"it is {number.mean:.6g}"

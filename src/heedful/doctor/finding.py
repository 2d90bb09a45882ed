"""A finding: one thing that is so, how much it matters, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["ok", "note", "warning", "problem"]
LEVELS: tuple[Level, ...] = ("problem", "warning", "note", "ok")  # the worst first
SHOWN = 3  # cases of a finding
LONGEST_SHOWN = 160  # characters of a text; the rest is cut


@dataclass(frozen=True)
class Case:
    """An example that shows it: its number in the split, from 1, and its texts by feature.

    Pairs with an empty side are not in a prepared split, and not counted by the number.
    """

    split: str
    number: int
    texts: dict[str, str]
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        texts = {name: shortened(text) for name, text in self.texts.items()}
        return {"split": self.split, "number": self.number, "note": self.note, "texts": texts}


@dataclass(frozen=True)
class Finding:
    """What was looked at, by a name for scripts and a title for a person."""

    level: Level
    name: str
    title: str
    number: float | None = None  # the count, share or size that the title speaks of
    advice: str = ""  # what to do; empty where nothing need be done
    cases: tuple[Case, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "name": self.name,
            "title": self.title,
            "number": self.number,
            "advice": self.advice,
            "examples": [case.to_json() for case in self.cases],
        }


def graded(share: float, *, warning: float, problem: float = 2.0) -> Level:
    """The level of a share: nothing is ok, little a note, and from two thresholds on more."""
    if share >= problem:
        return "problem"
    if share >= warning:
        return "warning"
    return "note" if share > 0 else "ok"


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Problems, then warnings, notes, and what is well; within a level in the order of looking."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def shortened(text: str) -> str:
    """A text cut to what a person will read of it."""
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def percent(share: float) -> str:
    """A share as a person says it.

    >>> percent(0.12345), percent(0.00004), percent(0.0)
    ('12.3 %', 'under 0.1 %', '0 %')
    """
    if share == 0:
        return "0 %"
    return f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %"

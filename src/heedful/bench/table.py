"""What was measured: rows, one a thing measured, as a table for a person and as JSON for a script.

A thing that could not be measured keeps its row, with the reason in place of the number.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from heedful.bench.timing import Middle, free
from heedful.errors import HeedfulError
from heedful.viz.numbers import spoken

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing measured. Names of ours begin with `heedful`."""

    name: str
    unit: str
    value: float | None = None  # None where it could not be measured; `note` says why
    spread: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)  # what else is known of it
    note: str = ""

    @classmethod
    def of(cls, name: str, unit: str, middle: Middle, more: Mapping[str, Any]) -> "Row":
        return cls(name=name, unit=unit, value=middle.value, spread=middle.spread, more=more)

    @property
    def ours(self) -> bool:
        return self.name.startswith("heedful")

    def to_json(self) -> dict[str, Any]:
        said = {"name": self.name, "value": self.value, "unit": self.unit, "spread": self.spread}
        return {**said, **self.more, **({"note": self.note} if self.note else {})}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A whole measurement: what was measured, how, and what came of it."""

    kind: str
    rows: tuple[Row, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()  # what one must know to read the numbers

    def to_json(self, hardware: str, versions: Mapping[str, str], commit: str) -> dict[str, Any]:
        return {
            "bench": self.kind,
            "hardware": hardware,
            "versions": dict(versions),
            "commit": commit,
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "rows": [row.to_json() for row in self.rows],
        }


def attempt(name: str, unit: str, measure: Callable[[], Row], device: torch.device) -> Row:
    """What `measure` gives; where it fails, a row that says so, so that the others are not lost."""
    reason = ""
    try:
        return measure()
    except Exception as error:
        reason = failure(error)  # and no more of it: it would hold on to the memory it failed with
    finally:
        free(device)
    return Row(name=name, unit=unit, note=reason)


def failure(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, torch.OutOfMemoryError):
        return "failed: out of memory"
    said = (str(error).strip() or "no reason given").splitlines()[0]
    kind = "" if isinstance(error, HeedfulError) else f"{type(error).__name__}: "
    return f"failed: {kind}{said}"


def gain(name: str, rows: Iterable[Row]) -> list[Row]:
    """Our fastest over the fastest of the others, as a row; none where a side has no number."""
    known = [row for row in rows if row.value is not None]
    ours = max((r for r in known if r.ours), key=_value, default=None)
    others = max((r for r in known if not r.ours), key=_value, default=None)
    if ours is None or others is None:
        return []
    more = {"ours": ours.name, "theirs": others.name}
    value = _value(ours) / _value(others)
    return [Row(name=name, unit="times", value=value, more=more)]


def cells(rows: Sequence[Row], columns: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows as text under a head, with these of the further fields where any row has them."""
    used = [name for name in columns if any(row.more.get(name) is not None for row in rows)]
    heads = [name.replace("_", " ") for name in used]
    noted = any(row.note for row in rows)
    table = [("", "median", "spread", "unit", *heads, *([""] if noted else []))]
    for row in rows:
        found = [spoken(row.more.get(name)) for name in used]
        note = [row.note] if noted else []
        table.append((row.name, spoken(row.value), spoken(row.spread), row.unit, *found, *note))
    return table


def _value(row: Row) -> float:
    return row.value or 0.0

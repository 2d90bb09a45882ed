"""The part of RESULTS.md on speed: what `heedful bench --out results/bench-NAME.json` recorded."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heedful.errors import HeedfulError
from heedful.viz.numbers import spoken

Bench = dict[str, Any]


def speeds(folder: Path) -> list[str]:
    """A section for each recorded benchmark in a folder, by the file's name."""
    return [_section(path.stem, _read(path)) for path in sorted(folder.glob("bench-*.json"))]


def _read(path: Path) -> Bench:
    try:
        found: Bench = json.loads(path.read_text(encoding="utf-8"))
        found["bench"], found["rows"], found["settings"], found["commit"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HeedfulError(
            f"{path} is no record of a benchmark ({type(error).__name__}: {error}). Restore it, or "
            "measure it again"
        ) from error
    return found


def _section(name: str, made: Bench) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return "\n".join(
        [
            f"## {name}",
            "",
            f"- `heedful bench {made['bench']}` at commit {made['commit']} on {made['hardware']}; "
            f"{versions}",
            f"- with {', '.join(_settings(made['settings']))}",
            *(f"- note: {note}" for note in made["notes"]),
            "",
            "| | median | spread | unit |",
            "|---|---|---|---|",
            *(f"| {' | '.join(_cells(row))} |" for row in made["rows"]),
        ]
    )


def _settings(settings: Bench, within: str = "") -> Iterable[str]:
    """Each setting as `name value`, those of a part under its name."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _settings(value, f"{within}{name}.")
        else:
            yield f"{within}{name} {spoken(value)}"


def _cells(row: Bench) -> list[str]:
    if row["value"] is None:
        return [row["name"], row.get("note", ""), "", row["unit"]]
    return [row["name"], spoken(row["value"]), spoken(row["spread"]), row["unit"]]

"""What is said to a person, and where: results on stdout, everything else on stderr.

Of several processes (torchrun) only the first speaks.
"""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any


def first() -> bool:
    """Whether this process is the one that speaks."""
    return os.environ.get("RANK", "0") == "0"


def say(text: str = "") -> None:
    """A result."""
    if first():
        print(text, flush=True)


def say_json(value: Any) -> None:
    """A result for a script."""
    say(json.dumps(value, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """Progress: what is being done."""
    if first():
        print(text, file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Something the user should know of that did not stop the work."""
    note(f"warning: {text}")


def columns(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Rows as lines with their columns aligned; the last column is as wide as it likes.

    >>> print(columns([("split", "BLEU"), ("test_unseen", "97.1")]))
    split        BLEU
    test_unseen  97.1
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)] if rows else []
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append((indent + "  ".join([*cells, row[-1]])).rstrip())
    return "\n".join(lines)


def value(shown: Any) -> str:
    """A config's value as `--set` would take it."""
    if isinstance(shown, bool):
        return "true" if shown else "false"
    if shown is None:
        return "none"
    if isinstance(shown, list):
        return ",".join(value(item) for item in shown)
    return f"{shown:g}" if isinstance(shown, float) else str(shown)

"""What a run's log says of its training: the curve, the seconds, the speed."""

import json
import math
from pathlib import Path
from typing import Any

from heedful.claims.base import Point
from heedful.runs.folder import RunFolder

POINTS = 60  # of a curve that are kept in a record


def records(path: Path) -> list[dict[str, Any]]:
    """The lines of a run's log."""
    log = RunFolder(path).log
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def points(path: Path) -> list[Point]:
    """The curve of a run: its training and its evaluations on the way, thinned out."""
    found: list[Point] = []
    for record in records(path):
        if record["kind"] == "train":
            kept = ("step", "tokens", "seconds", "nll", "tokens_per_second")
            found.append({key: record[key] for key in kept})
        elif record["kind"] == "evaluate":
            values = {f"valid_{name}": entry["value"] for name, entry in record["metrics"].items()}
            found.append({"step": record["step"], **values})
    return thinned(found)


def thinned(found: list[Point]) -> list[Point]:
    """As many points of a curve as a record keeps, the last among them."""
    every = -(-len(found) // POINTS) if found else 1
    return [point for i, point in enumerate(found) if (len(found) - 1 - i) % every == 0]


def training_seconds(path: Path) -> float:
    """Seconds that a run spent on its steps: not on preparing, evaluating and saving."""
    return float([r["seconds"] for r in records(path) if r["kind"] == "train"][-1])


def speed(path: Path) -> float:
    """Target tokens a second, the median over the log without its first line (it warms up)."""
    lines = [r["tokens_per_second"] for r in records(path) if r["kind"] == "train"]
    steady = sorted(lines[1:] or lines)
    return float(steady[len(steady) // 2]) if steady else math.nan

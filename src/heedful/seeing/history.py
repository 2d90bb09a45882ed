"""What happened in runs, read from their logs: curves by name, for several runs at once."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.errors import HeedfulError
from heedful.runs.folder import RunFolder
from heedful.viz.figures import Chart

TRAINING = {  # a number of a line of the log, and what it is
    "nll": ("training loss", "nats a token"),
    "rate": ("learning rate", "rate"),
    "tokens_per_second": ("speed", "target tokens a second"),
}


def charts(runs: Sequence[Path]) -> list[Chart]:
    """Loss, what was measured on the way, learning rate and speed, each with a line a run."""
    logs = {name: records(run) for name, run in zip(names(runs), runs, strict=True)}
    found = [
        Chart(title, "steps", up, {name: _line(log, "train", key) for name, log in logs.items()})
        for key, (title, up) in TRAINING.items()
    ]
    measured = [
        Chart(
            f"{metric.replace('_', ' ')}, valid",
            "steps",
            metric.replace("_", " "),
            {name: _line(log, "evaluate", metric) for name, log in logs.items()},
        )
        for metric in _metrics(logs)
    ]
    drawn = [chart for chart in [*found[:1], *measured, *found[1:]] if any(chart.lines.values())]
    if not drawn:
        raise HeedfulError(
            f"nothing to draw yet: {', '.join(map(str, runs))} logged no step. Runs log every "
            "training.log_every steps"
        )
    return drawn


def names(runs: Sequence[Path]) -> list[str]:
    """What each run is called: its folder, with the folders above it where two would be alike."""
    parts = [Path(run).resolve().parts for run in runs]
    for length in range(1, max(map(len, parts)) + 1):
        short = ["/".join(part[-length:]) for part in parts]
        if len(set(short)) == len(short):
            return short
    raise HeedfulError("the same run was named twice. Name each run once")


def records(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's log; the last may be half written."""
    log = RunFolder.open(run).log
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise HeedfulError(f"{log} cannot be read ({error.strerror}): has it trained?") from error
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _line(log: list[dict[str, Any]], kind: str, key: str) -> list[tuple[float, float]]:
    found = []
    for record in log:
        if record.get("kind") != kind:
            continue
        value = record.get(key) if kind == "train" else record["metrics"].get(key, {}).get("value")
        if isinstance(value, int | float):
            found.append((float(record["step"]), float(value)))
    return found


def _metrics(logs: dict[str, list[dict[str, Any]]]) -> list[str]:
    """All that was measured, in the order it first was."""
    seen: dict[str, None] = {}
    for log in logs.values():
        for record in log:
            if record.get("kind") == "evaluate":
                seen.update(dict.fromkeys(record["metrics"]))
    return list(seen)

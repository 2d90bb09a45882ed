"""Reproducing a claim: measured, judged, and written down as a record that says all of it."""

import json
import math
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from heedful.claims import circumstances
from heedful.claims.base import Baseline, Claim, Context, InArms, Measured, claims
from heedful.claims.targets import judge
from heedful.distributed.processes import pick_device
from heedful.errors import HeedfulError, UsageError, nearest
from heedful.runs import durable

RUNS = Path("runs/reproduce")
RESULTS = Path("results")
SMOKED = "smoke"  # the folder beside real records that holds those of --budget smoke

Record = dict[str, Any]


def reproduce(name: str, context: Context, out: Path = RESULTS) -> tuple[Record, Path]:
    """Measure a claim and write its record: the record, and where it is.

    `context.runs` is the folder for the runs of all claims. With the budget "smoke" runs are thrown
    away, nothing is said to be reached, and the record goes to a folder of its own.
    """
    claim = claims.get(name)()
    began = time.monotonic()
    measured = _measure(claim, context)
    seconds = measured.seconds or time.monotonic() - began
    made = record(claim, measured, context, seconds)
    path = (out / SMOKED if context.smoke else out) / f"{name}.json"
    write_record(path, made)
    return made, path


def in_turn(
    names: Iterable[str], context: Context, out: Path = RESULTS
) -> Iterator[tuple[Record, Path]]:
    """Measure claims one after the other."""
    for name in names:
        context.note(f"{name}, budget {context.budget}")
        yield reproduce(name, context, out)


def reproduce_part(name: str, context: Context) -> Measured:
    """Measure the arms of a claim that `context.only` names, and write no record.

    Their runs are where the whole measurement looks for them, so arms can be trained by several
    processes, or on several machines, before a plain `reproduce` puts them together.
    """
    claim = claims.get(name)()
    names = claim.measure.arm_names() if isinstance(claim.measure, InArms) else ()
    if not names:
        raise UsageError(
            f"claim '{name}' is measured as a whole, it has no arms to choose from. "
            "Leave --only out"
        )
    for wanted in context.only:
        if wanted not in names:
            raise UsageError(
                f"claim '{name}' has no arm named '{wanted}'.{nearest(wanted, names)} "
                f"It has: {', '.join(names)}"
            )
    return _measure(claim, context)


def _measure(claim: Claim, context: Context) -> Measured:
    if context.smoke:
        with tempfile.TemporaryDirectory(prefix="heedful-smoke-") as folder:
            return claim.measure(replace(context, runs=Path(folder)))
    return claim.measure(replace(context, runs=context.runs / claim.name))


def record(claim: Claim, measured: Measured, context: Context, seconds: float) -> Record:
    """All that is known of a claim and its measurement, as results/NAME.json holds it."""
    verdict = judge(claim.targets, measured.numbers)
    here = circumstances.hardware(pick_device(context.device))
    return {
        "claim": claim.name,
        "system": claim.system,
        "paper": asdict(claim.paper),
        "statement": claim.statement,
        "task": claim.task,
        "target": [{**target.to_json(), "said": target.said()} for target in claim.targets],
        "baseline": [_baseline(baseline, measured) for baseline in claim.baselines],
        "measured": {name: number.to_json() for name, number in measured.numbers.items()},
        "reached": None if context.smoke else verdict.reached,
        "reason": "not measured: --budget smoke only tries the code"
        if context.smoke
        else verdict.reason,
        "notes": list(measured.notes),
        "budget": context.budget,
        "command": command(claim.name, context),
        "commit": ", ".join(measured.commits) or circumstances.commit(),
        "seeds": list(measured.seeds),
        "hardware": " / ".join(measured.hardware) or here,
        "versions": circumstances.versions(),
        "seconds": round(seconds, 1),
        "curve": {name: list(points) for name, points in measured.curve.items()},
    }


def command(name: str, context: Context) -> str:
    """The command that measures this again."""
    seeds = f" --seeds {','.join(map(str, context.seeds))}" if context.seeds else ""
    return f"heedful reproduce {name}{' --budget smoke' if context.smoke else ''}{seeds}"


def write_record(path: Path, made: Record) -> None:
    """Put a record in its place, whole."""
    content = json.dumps(_plain(made), indent=1, ensure_ascii=False, allow_nan=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.write_file(path, content + "\n")
    except OSError as error:
        raise HeedfulError(f"could not write {path}: {error.strerror}") from error


def read_record(path: Path) -> Any:
    """What a file of the folder of records holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HeedfulError(
            f"{path} is not a record ({error}). Restore it, or measure it again"
        ) from error


def read_records(folder: Path) -> dict[str, Record]:
    """The records in a folder, by claim. Other JSON there (benchmarks) is not looked at."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        content = read_record(path)
        if isinstance(content, dict) and "claim" in content:
            found[str(content["claim"])] = content
    return found


def _baseline(baseline: Baseline, measured: Measured) -> Record:
    number = measured.numbers.get(baseline.number)
    return {
        "name": baseline.name,
        "number": baseline.number,
        "published": baseline.published,
        "value": None if number is None else number.mean,
    }


def _plain(value: Any) -> Any:
    """As JSON can hold it everywhere, to six digits; what is not a finite number is null."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value

"""What layers cost as lengths and widths grow: the exponents, measured and claimed.

Time is of forward and backward, memory what a forward pass holds for the backward pass. One of
length, width, kernel and reach is changed at a time; through the measurements goes a power law.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from heedful.bench.fit import PowerLaw
from heedful.bench.layers import Layer, Size, layers
from heedful.bench.table import Bench, Row, Tell, attempt, failure
from heedful.bench.timing import Middle, Ready, by_device, free, kept_gigabytes
from heedful.errors import HeedfulError

COLUMNS = ("claimed", "memory_exponent", "cost")


@dataclass(frozen=True)
class Point:
    """One measurement of a layer."""

    at: int  # the length, width, kernel or reach
    milliseconds: float
    spread: float
    kept_gb: float


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured, and how often."""

    base: Size  # the size from which one letter at a time is changed
    sweeps: Mapping[str, tuple[int, ...]]  # by letter: n, d, k, r
    dtype: torch.dtype
    repeats: int
    seed: int = 1


def bench_complexity(measuring: Measuring, device: torch.device, tell: Tell) -> Bench:
    """Measure all of it: a row for each layer and letter its cost has."""
    m = measuring
    rows = [
        sweep(layer, letter, m, device, tell)
        for layer in layers(device)
        for letter in layer.exponents
        if m.sweeps.get(letter)
    ]
    settings: dict[str, Any] = {
        **{f"{letter}_otherwise": value for letter, value in m.base._asdict().items()},
        **{letter: list(values) for letter, values in m.sweeps.items()},
        "dtype": str(m.dtype).removeprefix("torch."),
        "repeats": m.repeats,
        "seed": m.seed,
    }
    notes = (
        "forward and backward of one row; attention without its projections, in heads of 64; "
        "memory is what is kept for the backward pass, weights not counted",
        "the spread of an exponent is its standard error",
    )
    return Bench(kind="complexity", rows=tuple(rows), settings=settings, notes=notes)


def sweep(layer: Layer, letter: str, m: Measuring, device: torch.device, tell: Tell) -> Row:
    """How a layer's time grows with one letter. A size that fails leaves the others."""
    name, unit = f"{layer.name}: time by {letter}", f"exponent of {letter}"
    tell(name)

    def work() -> Row:
        points, missed = [], []
        for at in m.sweeps[letter]:
            reason = ""
            try:
                points.append(measure(layer, m.base._replace(**{letter: at}), at, m, device))
            except Exception as error:
                reason = failure(error)
            if reason:
                missed.append(f"{letter} = {at:,} {reason}")
            free(device)
        if len(points) < 2:
            raise HeedfulError("; ".join(missed) or f"one size of {letter} has no exponent")
        time = PowerLaw.through([(p.at, p.milliseconds) for p in points])
        memory = PowerLaw.through([(p.at, p.kept_gb) for p in points])
        return Row(
            name=name,
            unit=unit,
            value=time.exponent,
            spread=time.error,
            more={
                "claimed": layer.exponents[letter],
                "cost": layer.cost,
                "memory_exponent": memory.exponent,
                "letter": letter,
                "points": [vars(point) for point in points],
            },
            note="; ".join(missed),
        )

    return attempt(name, unit, work, device)


def measure(layer: Layer, size: Size, at: int, m: Measuring, device: torch.device) -> Point:
    """One layer of one size."""
    torch.manual_seed(m.seed)
    middle = _timed(layer, size, m, device)

    def make() -> Ready:
        made = layer.make(size, device, m.dtype)
        return made.forward, made.weights

    return Point(at, middle.value, middle.spread, kept_gigabytes(make, device))


def _timed(layer: Layer, size: Size, m: Measuring, device: torch.device) -> Middle:
    """Milliseconds; nothing is left over for who counts memory next."""
    forward, inputs, weights = layer.make(size, device, m.dtype)
    back = torch.randn_like(forward())

    def work() -> None:
        torch.autograd.grad(forward(), (*inputs, *weights), back)

    return Middle.of(by_device(work, device, m.repeats)).times(1_000)


def curves(rows: Sequence[Row], letter: str, field: str) -> dict[str, list[tuple[float, float]]]:
    """The measured points of every layer that has such a letter, for a chart."""
    return {
        row.name.partition(":")[0]: [(p["at"], p[field]) for p in row.more["points"]]
        for row in rows
        if row.more.get("letter") == letter
    }

"""A comparison as one HTML page: scores with their spread, speed, curves, samples."""

from collections.abc import Iterator
from html import escape
from typing import Any

from heedful.viz.curves import Curve, curves
from heedful.viz.numbers import spread
from heedful.viz.page import page, table

AXES = {"step": "steps", "tokens": "target tokens", "seconds": "seconds of training"}


def comparison_page(report: dict[str, Any]) -> str:
    return page(f"{report['problem']}: presets compared", _body(report))


def _body(report: dict[str, Any]) -> Iterator[str]:
    seeds = ", ".join(map(str, report["seeds"]))
    yield (
        f"<p>Split {escape(report['split'])}, budget {escape(report['budget'])} for each, seeds "
        f"{escape(seeds)}. Means; lowest and highest of the seeds in brackets.</p>"
    )
    names = [n for n in report["rows"][0]["metrics"] if n not in ("seconds", "tokens_per_second")]
    heads = ["preset", "parameters", "steps", *names, "tokens a second", "seconds"]
    yield table(heads, (_cells(row, names) for row in report["rows"]), numbers=True)
    for row in report["rows"]:
        for note in row["notes"]:
            yield f'<p class="aside">{escape(row["preset"])}: {escape(note)}</p>'
    yield '<h2>Curves</h2><div class="charts">'
    best = f"valid_{report['best_by']}"
    for value, up in (("nll", "training loss, nats a token"), (best, best.replace("_", " "))):
        for axis, across in AXES.items():
            if value == "nll" or axis == "step":
                yield curves(f"{up} by {across}", across, up, _lines(report, axis, value))
    yield "</div>"
    if report["samples"]:
        yield "<h2>Samples</h2>"
        presets = [row["preset"] for row in report["rows"]]
        yield table(
            ["source", "reference", *presets],
            (
                (s["source"], s["reference"], *(s["outputs"][name] for name in presets))
                for s in report["samples"]
            ),
        )
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    yield (
        f'<p class="aside">Commit {escape(report["commit"])}; {escape(report["hardware"])}; '
        f"{escape(versions)}.</p>"
    )


def _cells(row: dict[str, Any], names: list[str]) -> list[str]:
    return [
        row["preset"],
        f"{row['parameters']:,}",
        f"{row['steps']:,}",
        *(spread(row["metrics"][name]) for name in names),
        f"{row['metrics']['tokens_per_second']['value']:,.0f}",
        f"{row['metrics']['seconds']['value']:,.1f}",
    ]


def _lines(report: dict[str, Any], axis: str, value: str) -> dict[str, Curve]:
    """The curve of each preset and seed that has both numbers in its points."""
    return {
        run: [(point[axis], point[value]) for point in points if axis in point and value in point]
        for runs in report["curves"].values()
        for run, points in runs.items()
    }

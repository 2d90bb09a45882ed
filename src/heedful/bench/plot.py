"""A picture of how layers' costs grow: measured points, and the slopes that are claimed."""

from collections.abc import Sequence
from pathlib import Path

from heedful.bench.complexity import curves
from heedful.bench.table import Row
from heedful.errors import HeedfulError

PANELS = (
    ("n", "milliseconds", "time by length n", "milliseconds"),
    ("d", "milliseconds", "time by width d", "milliseconds"),
    ("n", "kept_gb", "memory by length n", "gigabytes kept for the backward pass"),
)


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the rows of `bench_complexity` as a picture, by the ending of the path (.png, .svg).

    Both axes are logarithmic, so that a power law is a line. Dashed: through the last point, with
    the exponent that the operations have.
    """
    if not any("points" in row.more for row in rows):
        raise HeedfulError(f"nothing was measured, so there is nothing to draw in {path}")
    from matplotlib.figure import Figure  # slow to import, and only needed here

    figure = Figure(figsize=(15, 5), layout="constrained")
    for axes, (letter, field, title, up) in zip(figure.subplots(1, 3), PANELS, strict=True):
        claimed = {
            row.name.partition(":")[0]: (row.more["claimed"], row.more["cost"])
            for row in rows
            if row.more.get("letter") == letter
        }
        lines = curves(rows, letter, field)
        for number, (name, points) in enumerate(lines.items()):
            exponent, cost = claimed[name]
            xs, ys = zip(*points, strict=True)
            (line,) = axes.plot(xs, ys, "o-", label=f"{name} ({cost})", color=f"C{number}")
            if field == "milliseconds":
                end_x, end_y = points[-1]
                slope = [end_y * (x / end_x) ** exponent for x in xs]
                axes.plot(xs, slope, "--", color=line.get_color(), linewidth=1, alpha=0.7)
        axes.set(xscale="log", yscale="log", title=title, xlabel=letter, ylabel=up)
        sizes = sorted({x for points in lines.values() for x, _ in points})
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.xaxis.minorticks_off()
    figure.axes[0].legend(fontsize="small", title="measured; dashed: the slope of the operations")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise HeedfulError(f"cannot write {path}: {error}") from error

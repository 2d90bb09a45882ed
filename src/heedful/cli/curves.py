"""`heedful curves`: how runs learnt, side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.screen import note
from heedful.errors import HeedfulError, UsageError

if TYPE_CHECKING:
    from heedful.viz.curves import Curve
    from heedful.viz.figures import Chart

OUT = Path("curves.html")


def curves(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="The folders of runs.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="An .html, .png or .svg file.")
    ] = OUT,
) -> None:
    """Draw loss, scores, learning rate and speed of several runs into one page or picture.

    \b
    Example:
      heedful curves runs/demo runs/own --out curves.html
      heedful curves runs/demo --out curves.png
    """
    suffix = out.suffix.lower()
    if suffix not in (".html", ".png", ".svg"):
        raise UsageError(f"--out is an .html, a .png or an .svg file, got '{out.name}'")
    from heedful.seeing.history import charts
    from heedful.viz.figures import chart_figure

    drawn = charts(runs)
    if suffix == ".html":
        _page(out, drawn)
    else:
        chart_figure(out, drawn)
    note(f"wrote {out}")


def _page(out: Path, charts: "Sequence[Chart]") -> None:
    from heedful.viz.curves import curves as chart
    from heedful.viz.page import page, table

    pictures = [chart(one.title, one.across, one.up, one.lines) for one in charts]
    names = list(charts[0].lines)
    rows = [
        (
            one.title,
            *(_last(one.lines[name]) for name in names),
        )
        for one in charts
    ]
    body = ['<div class="charts">', *pictures, "</div>", "<h2>At the end</h2>"]
    try:
        out.write_text(
            page("Learning curves", [*body, table(["", *names], rows, numbers=True)]),
            encoding="utf-8",
        )
    except OSError as error:
        raise HeedfulError(f"cannot write {out}: {error.strerror or error}") from error


def _last(line: "Curve") -> str:
    from heedful.viz.curves import written

    return written(line[-1][1]) if line else "–"

"""Pictures for papers and slides, as PNG or SVG: heat maps, lines between words, curves."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from heedful.errors import HeedfulError, UsageError
from heedful.viz.curves import COLOURS, Curve, drawn

SUFFIXES = (".png", ".svg")
NAMED = 60  # with more rows or columns than this, their names are left out
_SETTINGS: Any = {
    "text.parse_math": False,  # a dollar sign in a text is a dollar sign
    "svg.fonttype": "none",  # text stays text, to be searched and set in another font
    "svg.hashsalt": "heedful",  # the same picture, the same file
    "font.size": 9,
}


@dataclass(frozen=True, eq=False)
class Panel:
    """A matrix of weights with the names of its rows and columns; none of them is also fine."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    weights: np.ndarray  # [rows, columns]


@dataclass(frozen=True, eq=False)
class Looking:
    """A sentence, one of its words, and how much that word looks at each."""

    title: str
    words: Sequence[str]
    place: int
    weights: Sequence[float]


@dataclass(frozen=True)
class Chart:
    """Several lines by name, and what they are drawn over."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Curve]


def check_picture(path: Path) -> None:
    """An error if no picture can be written under this name."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a picture is a .png or an .svg file, got '{path.name}'")


def heat_maps(
    path: Path, panels: Sequence[Panel], columns: int = 4, most: float | None = None
) -> None:
    """Heat maps side by side, at most `columns` in a row; from 0, white, to `most`, dark, or to the
    most that each has."""
    wide = min(columns, len(panels))
    side = 4.2 if len(panels) == 1 else 2.6
    high = min(side, 1.4 + 0.3 * max(len(panel.weights) for panel in panels))  # few rows are low
    with _figure(path, (side * wide, high * ceil(len(panels) / wide))) as figure:
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(ceil(len(panels) / wide), wide, number)
            shown = axes.imshow(panel.weights, cmap="Blues", vmin=0, vmax=most, aspect="auto")
            axes.set_title(panel.title, fontsize=9)
            axes.tick_params(length=0)
            _names(axes, panel, small=len(panels) > 1)
            if len(panels) == 1:
                figure.colorbar(shown, shrink=0.7)


def signals(path: Path, panels: Sequence[Panel]) -> None:
    """Heat maps of numbers that may be negative: blue below 0, red above, one above the other."""
    with _figure(path, (7.0, 3.2 * len(panels))) as figure:
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(len(panels), 1, number)
            most = float(np.abs(panel.weights).max(initial=0)) or 1.0
            shown = axes.imshow(panel.weights, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
            axes.set_title(panel.title, fontsize=9)
            figure.colorbar(shown)


def looking(path: Path, pairs: Sequence[Sequence[Looking]]) -> None:
    """Sentences as two columns of words, and lines from one word to those it looks at."""
    longest = max(len(one.words) for pair in pairs for one in pair)
    wide = max(len(pair) for pair in pairs)
    with _figure(path, (3.4 * wide, 0.24 * (longest + 2) * len(pairs))) as figure:
        for row, pair in enumerate(pairs):
            for column, one in enumerate(pair):
                axes = figure.add_subplot(len(pairs), wide, row * wide + column + 1)
                _lines(axes, one)


def chart_figure(path: Path, charts: Sequence[Chart]) -> None:
    """Charts, two in a row."""
    shown = [chart for chart in charts if any(chart.lines.values())]
    high = ceil(len(shown) / 2)
    with _figure(path, (10.0, 3.4 * high)) as figure:
        for number, chart in enumerate(shown, start=1):
            axes = figure.add_subplot(high, min(2, len(shown)), number)
            for place, (name, line) in enumerate(chart.lines.items()):
                style = "-" if place < len(COLOURS) else "--"
                colour = COLOURS[place % len(COLOURS)]
                if points := drawn(line):
                    axes.plot(*zip(*points, strict=True), style, color=colour, label=name)
            axes.set(title=chart.title, xlabel=chart.across, ylabel=chart.up)
            axes.legend(fontsize=7)


@contextmanager
def _figure(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """A figure to draw on, written to `path` at the end."""
    check_picture(path)
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a font lacks a letter
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        try:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
            figure.savefig(path, dpi=200, metadata=metadata)
        except OSError as error:
            raise HeedfulError(f"cannot write {path}: {error.strerror or error}") from error


def _names(axes: Any, panel: Panel, small: bool) -> None:
    size = 5 if small else 8
    if len(panel.rows) <= NAMED:
        axes.set_yticks(range(len(panel.rows)), panel.rows, fontsize=size)
    else:
        axes.set_yticks([])
    if len(panel.columns) <= NAMED:
        axes.set_xticks(range(len(panel.columns)), panel.columns, rotation=90, fontsize=size)
        axes.xaxis.tick_top()
    else:
        axes.set_xticks([])


def _lines(axes: Any, one: Looking) -> None:
    count = len(one.words)
    for place, (word, weight) in enumerate(zip(one.words, one.weights, strict=True)):
        axes.text(0.3, -place, word, ha="right", va="center", fontsize=8)
        axes.text(0.7, -place, word, ha="left", va="center", fontsize=8)
        share = min(1.0, float(weight))
        axes.plot([0.32, 0.68], [-one.place, -place], "-", color=COLOURS[0], alpha=share, lw=3)
    axes.set(xlim=(0, 1), ylim=(-count + 0.3, 0.7))
    axes.set_title(one.title, fontsize=8)
    axes.axis("off")

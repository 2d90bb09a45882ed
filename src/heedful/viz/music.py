"""Music to look at: a piano roll as a picture, and as one HTML page that plays it.

Both are given plain values (what `heedful.seeing.music` gives) and know no model. On the page,
sound is made by the browser itself from the notes, so that nothing is loaded.
"""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from heedful.viz import assets
from heedful.viz.curves import COLOURS
from heedful.viz.figures import _figure
from heedful.viz.page import Script, page

NEEDS = "This page draws and plays its music with a script, and scripts are switched off here."
GIVEN = "#8a93a3"
STYLE = """
.roll { border: 1px solid var(--line); overflow-x: auto; }
.roll svg { display: block; height: 24rem; width: auto; }
.roll .key { fill: var(--line); opacity: .35; }
.roll .note { cursor: pointer; fill: #1f62a6; } .roll .note.given { fill: #8a93a3; }
.roll .note.chosen { fill: #d55e00; } .roll .note.looked { stroke: #d55e00; stroke-width: 2px; }
.roll .arc { fill: none; stroke: #d55e00; pointer-events: none; }
.roll .now { stroke: var(--ink); stroke-width: 1.5px; }
.controls { align-items: center; display: flex; flex-wrap: wrap; gap: .5rem 1.2rem;
  margin: .8rem 0; }
.said { min-height: 3em; }
"""


def roll_figure(path: Path, notes: Sequence[Sequence[float]], title: str = "") -> None:
    """A piano roll as .png or .svg; notes are [start, end, pitch, velocity, given]."""
    seconds = max((note[1] for note in notes), default=1.0)
    with _figure(path, (min(24.0, max(6.0, seconds / 2.5)), 4.0)) as figure:
        axes = figure.add_subplot(1, 1, 1)
        for kind, colour in ((0, COLOURS[0]), (1, GIVEN)):
            for loud in sorted({int(note[3]) for note in notes if note[4] == kind}):
                of = [note for note in notes if note[4] == kind and int(note[3]) == loud]
                for start, end, pitch, *_ in of:
                    axes.broken_barh(
                        [(start, end - start)],
                        (pitch - 0.4, 0.8),
                        facecolors=colour,
                        alpha=0.35 + 0.65 * min(loud, 127) / 127,
                    )
        axes.set(xlabel="seconds", ylabel="key", title=title, xlim=(0, seconds))


def music_page(title: str, pieces: Sequence[dict[str, Any]]) -> str:
    """The whole page; a piece is what `heedful.seeing.music.seen` gives, and may have a "name"."""
    script = Script(assets.read("music.js"), {"pieces": list(pieces)})
    return page(title, _body(pieces), STYLE, script)


def _body(pieces: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"<noscript><p>{NEEDS}</p></noscript>"
    for number, piece in enumerate(pieces):
        name = escape(str(piece.get("name", "The piece")))
        yield f'<section class="piece" aria-labelledby="piece-{number}">'
        yield f'<h2 id="piece-{number}" dir="auto">{name}</h2>'
        yield f'<p class="aside">{_about(piece)}</p>'
        yield '<div class="controls"></div><div class="roll" tabindex="0"></div>'
        yield '<p class="said" aria-live="polite"></p></section>'


def _about(piece: dict[str, Any]) -> str:
    notes = piece["notes"]
    given = sum(note[4] for note in notes)
    said = f"{len(notes):,} notes in {piece['seconds']:.1f} seconds"
    said += f", of which {given:,} were given (grey). " if given else ". "
    if piece["layers"]:
        return said + "Choose a note: arcs lead to the notes that were looked at for it."
    return said + "This model attends to nothing, so there are no arcs."

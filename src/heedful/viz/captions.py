"""One HTML page of a picture and its caption: for each word, the picture as it was looked at.

It is given plain values (what `heedful.seeing.captions` gives as JSON) and knows no model. Nothing
runs on it; pictures and weights are plain drawing.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from heedful.viz.page import page, table

FOG = 0.82  # how much of a cell is hidden that is not looked at
STYLE = """
.words { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); }
.words figcaption { overflow-wrap: anywhere; } .words figcaption b { color: var(--ink); }
.whole { max-width: 20rem; } .pixels { image-rendering: pixelated; }
.most { fill: none; stroke: #ffb000; stroke-width: 2px; vector-effect: non-scaling-stroke; }
"""


def caption_page(title: str, items: Sequence[dict[str, Any]]) -> str:
    """The whole page; an item is what `Gazed.to_json` gives."""
    body = [line for number, item in enumerate(items) for line in _item(number, item)]
    return page(title, body, STYLE)


def _item(number: int, item: dict[str, Any]) -> Iterator[str]:
    height, width = item["size"]
    rows, columns = item["grid"]
    drawing = f'<svg viewBox="0 0 {width} {height}" role="img" '
    name = f"picture-{number}"
    yield f'<section aria-labelledby="caption-{number}">'
    yield f'<h2 id="caption-{number}" dir="auto">{escape(item["caption"]) or "(no words)"}</h2>'
    if not item["text"].startswith("data:"):
        yield f'<p class="aside" dir="auto">{escape(item["text"])}</p>'
    yield f'<figure class="whole">{drawing} aria-label="the picture">'
    yield f'<image id="{name}" class="pixels" href="{escape(item["picture"])}" width="{width}" '
    yield f'height="{height}" preserveAspectRatio="none"/></svg></figure>'
    yield "<h3>Word by word</h3>"
    yield '<p class="aside">The clearer a cell, the more it was looked at when the word was said; '
    yield "framed is the one that was looked at most.</p>"
    yield '<div class="words">'
    for word, weights in zip(item["words"], item["weights"], strict=True):
        yield from _word(drawing, name, word, weights, columns, item["side"])
    yield "</div><details><summary>The weights as a table</summary>"
    heads = ["word", *(_place(cell, columns) for cell in range(rows * columns))]
    lines = zip(item["words"], item["weights"], strict=True)
    yield table(heads, [[w, *(f"{x:.3f}" for x in of)] for w, of in lines], numbers=True)
    yield "</details></section>"


def _word(
    drawing: str, name: str, word: str, weights: Sequence[float], columns: int, side: int
) -> Iterator[str]:
    """The picture under a fog that is thin where the word looked."""
    most = max(range(len(weights)), key=weights.__getitem__)
    said = f"{weights[most]:.2f} at {_place(most, columns)}"
    yield f'<figure>{drawing} aria-label="{escape(word)}: {said}"><use href="#{name}"/>'
    boxes = [
        f'x="{cell % columns * side}" y="{cell // columns * side}" width="{side}" height="{side}"'
        for cell in range(len(weights))
    ]
    for box, weight in zip(boxes, weights, strict=True):
        hidden = FOG * (1 - weight / max(weights[most], 1e-9))
        yield f'<rect {box} fill="#000" fill-opacity="{hidden:.3f}"/>'
    yield f'<rect class="most" {boxes[most]}/></svg>'
    yield f'<figcaption dir="auto"><b>{escape(word)}</b><br>{said}</figcaption></figure>'


def _place(cell: int, columns: int) -> str:
    return f"row {cell // columns + 1}, column {cell % columns + 1}"

"""One HTML page that opens from disk in any browser: no script, nothing fetched, light and dark."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --paper: #fff; --soft: #5a6270; --line: #d4d8df; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --paper: #16181d; --soft: #a3abb8;
  --line: #3a404a; } }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.aside, figcaption { color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .9rem .3rem 0; text-align: left;
  vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.charts { display: grid; gap: 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); }
figure { margin: 0; } svg { height: auto; width: 100%; }
svg text { fill: var(--soft); font-size: 12px; } svg .axis { stroke: var(--line); }
@media print { body { max-width: none; padding: 0; } }
"""


def page(title: str, body: Iterable[str], style: str = "") -> str:
    """The whole page; `body` is HTML, `title` is text, `style` are rules beside the common ones."""
    said = escape(title)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{said}</title>",
            f"<style>{STYLE}{style}</style></head>",
            f"<body><main><h1>{said}</h1>",
            *body,
            "</main></body></html>",
            "",
        ]
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """Rows of text under heads; the first cell of a row names it. Numbers stand to the right."""
    kind = ' class="number"' if numbers else ' dir="auto"'
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    lines = [f"<table><thead><tr>{head}</tr></thead><tbody>"]
    for first, *rest in rows:
        cells = "".join(f"<td{kind}>{escape(text)}</td>" for text in rest)
        lines.append(f'<tr><th scope="row" dir="auto">{escape(first)}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody></table>"])

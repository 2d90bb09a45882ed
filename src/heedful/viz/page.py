"""One HTML page that opens from disk in any browser: nothing fetched, light and dark.

A policy in the page itself (Content-Security-Policy) names its one style and its one script by
their hashes, so whatever text a page shows, nothing else can run or be loaded.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from heedful.viz.curves import COLOURS

LIGHT = "--ink: #1d2129; --paper: #fff; --soft: #5a6270; --line: #d4d8df;"
DARK = "--ink: #e6e8ec; --paper: #16181d; --soft: #a3abb8; --line: #3a404a;"

_KEYS = " ".join(f".colour-{i} {{ color: {colour}; }}" for i, colour in enumerate(COLOURS))

STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
:root[data-theme="light"] {{ color-scheme: light; {LIGHT} }}
:root[data-theme="dark"] {{ color-scheme: dark; {DARK} }}
@media print {{ :root, :root[data-theme] {{ color-scheme: light; {LIGHT} }} }}
body {{ margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
.aside, figcaption {{ color: var(--soft); }}
main {{ overflow-x: auto; }} table {{ border-collapse: collapse; }}
th, td {{ border-bottom: 1px solid var(--line); padding: .3rem .9rem .3rem 0; text-align: left;
  vertical-align: top; }}
td.number {{ font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }}
.charts {{ display: grid; gap: 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); }}
figure {{ margin: 0; }} svg, figure img {{ height: auto; width: 100%; }}
svg text {{ fill: var(--soft); font-size: 12px; }} svg .axis {{ stroke: var(--line); }}
{_KEYS}
@media print {{ body {{ max-width: none; padding: 0; }} }}
"""


@dataclass(frozen=True)
class Script:
    """What runs on a page, and the data it finds there as JSON under the id `heedful-data`."""

    text: str
    data: Any


def page(title: str, body: Iterable[str], style: str = "", script: Script | None = None) -> str:
    """The whole page; `body` is HTML, `title` is text, `style` are rules beside the common ones."""
    said, rules = escape(title), STYLE + style
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(rules, script)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{said}</title>",
            f"<style>{rules}</style></head>",
            f"<body><main><h1>{said}</h1>",
            *body,
            "</main>",
            *_scripts(script),
            "</body></html>",
            "",
        ]
    )


def _policy(rules: str, script: Script | None) -> str:
    runs = f"script-src {_hash(script.text)}" if script else "script-src 'none'"
    parts = (
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "img-src data:",
        f"style-src {_hash(rules)}",
        runs,
    )
    return "; ".join(parts)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _scripts(script: Script | None) -> list[str]:
    if script is None:
        return []
    data = json.dumps(script.data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    inert = data.replace("<", "\\u003c")  # no text in it can close the element it stands in
    return [
        f'<script type="application/json" id="heedful-data">{inert}</script>',
        f"<script>{script.text}</script>",
    ]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """Rows of text under heads; the first cell of a row names it. Numbers stand to the right."""
    kind = ' class="number"' if numbers else ' dir="auto"'
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    lines = [f"<table><thead><tr>{head}</tr></thead><tbody>"]
    for first, *rest in rows:
        cells = "".join(f"<td{kind}>{escape(text)}</td>" for text in rest)
        lines.append(f'<tr><th scope="row" dir="auto">{escape(first)}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody></table>"])

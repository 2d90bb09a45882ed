"""One HTML page of attention: sentences to choose from, their beam trees, and pairs of sentences.

It is given plain values (what `heedful.seeing` gives as JSON) and knows no model.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from heedful.viz import assets
from heedful.viz.page import Script, page

NEEDS = "This page draws its pictures with a script, and scripts are switched off here."


def attention_page(
    title: str, items: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]] = ()
) -> str:
    """The whole page. An item is {"look": …}, may have a "tree", and a "name" to be chosen
    by in place of its text; a pair is a coreference."""
    script = assets.read("attention.js") + "\n" + assets.read("reader.js")
    data = {"items": list(items), "pairs": list(pairs)}
    body = _body(bool(items), bool(pairs))
    return page(title, body, assets.read("attention.css"), Script(script, data))


def _body(items: bool, pairs: bool) -> Iterator[str]:
    yield '<div class="heedful-controls"><span id="theme"></span></div>'
    yield f"<noscript><p>{NEEDS}</p></noscript>"
    if pairs:
        yield '<section aria-labelledby="two"><h2 id="two">One word changed</h2>'
        yield '<div id="pairs"></div></section>'
    if items:
        yield '<section aria-labelledby="seen"><h2 id="seen">Attention</h2>'
        yield '<div class="heedful-controls" id="chooser"></div>'
        for name, title in (("read", "Read"), ("said", "Said")):
            yield f'<p><span class="aside">{title}:</span> <span dir="auto" id="{name}"></span></p>'
        yield '<div id="attention"></div></section>'
        yield '<section id="search" aria-labelledby="tree" hidden><h2 id="tree">Beam search</h2>'
        yield '<div id="beams"></div></section>'

"""Scripts and styles of the pages, as text to be put into one: nothing is fetched, nothing built.

A script may be several files here, each about one thing; they are joined when read.
"""

from functools import cache
from importlib.resources import files

from heedful.errors import HeedfulError

JOINED = {
    "attention.js": (
        "numbers.js",
        "theme.js",
        "heat.js",
        "lines.js",
        "look.js",
        "beams.js",
        "coreference.js",
    )
}


@cache
def read(name: str) -> str:
    """The text of a script or a style: `attention.js`, `attention.css`."""
    if name in JOINED:
        return "\n".join(read(part) for part in JOINED[name])
    found = files(__name__) / name
    if "/" in name or not name.endswith((".js", ".css")) or not found.is_file():
        raise HeedfulError(f"there is no script or style '{name}' among the assets of heedful")
    return found.read_text(encoding="utf-8")

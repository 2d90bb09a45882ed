"""Talking to a model: a line in, its output at once."""

import sys
from typing import TYPE_CHECKING

from heedful.cli.lines import one_line
from heedful.cli.screen import note, say, warn

if TYPE_CHECKING:
    from heedful.decoding.translator import Translator


def converse(translator: "Translator") -> None:
    """Decode each line of stdin as it comes, until it ends."""
    person = sys.stdin.isatty()
    if person:
        note("Type a line and press Enter; Ctrl-D ends.")
    while True:
        if person:
            print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            break
        try:
            text = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            warn("that line is not UTF-8 text")
            say()
            continue
        (decoded,) = translator.decode([text])
        if decoded.error is not None:
            warn(decoded.error)
        say(one_line(decoded.text))
    if person:
        note("")

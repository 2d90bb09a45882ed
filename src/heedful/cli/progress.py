"""How far a long work is, on stderr: one line that changes on a terminal, plain lines elsewhere."""

import sys
import time

from heedful.cli.screen import first


class Progress:
    """Told how many are done, and of what; says so at most five times a second."""

    def __init__(self) -> None:
        self.note = ""
        self.said = 0.0
        self.live = sys.stderr.isatty()

    def __call__(self, done: int, note: str) -> None:
        fresh, now = note != self.note, time.monotonic()
        if not first() or not (fresh or (self.live and now - self.said > 0.2)):
            return
        if self.live:
            end = "\n" if fresh and self.note else "\r"
            print(f"{end}\x1b[K{note}: {done:,}", end="", file=sys.stderr, flush=True)
        else:
            print(note, file=sys.stderr, flush=True)
        self.note, self.said = note, now

    def end(self) -> None:
        """Leave the line as it is, and the next to whoever comes."""
        if self.live and self.note and first():
            print(file=sys.stderr, flush=True)
        self.note = ""

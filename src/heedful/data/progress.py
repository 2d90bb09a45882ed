"""How a long work says how far it is, whoever listens."""

from typing import Protocol


class Progress(Protocol):
    """Told how far a long work is: how many are done, and of what."""

    def __call__(self, done: int, note: str) -> None: ...


def silent(done: int, note: str) -> None:
    """The progress of nobody who wants to know."""

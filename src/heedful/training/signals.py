"""SIGINT and SIGTERM: asked to stop, a run finishes its step, saves, and goes."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from heedful.errors import HeedfulError

INTERRUPTED = 130  # the exit status


class Interrupted(HeedfulError):
    """The run was asked to stop and has saved a checkpoint. Commands exit with 130."""


class StopFlag:
    """Whether this process was asked to stop."""

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None

    def __bool__(self) -> bool:
        return self.asked is not None

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked is not None:
            raise SystemExit(INTERRUPTED)  # asked twice: at once, without saving
        self.asked = signal.Signals(number)


@contextmanager
def stopping() -> Iterator[StopFlag]:
    """While this lasts the two signals only set the flag; a second one exits at once."""
    flag = StopFlag()
    if threading.current_thread() is not threading.main_thread():
        yield flag  # signals go to the main thread, and only it may handle them
        return
    before = {
        number: signal.signal(number, flag.handle) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

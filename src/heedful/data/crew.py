"""The worker processes of a loader: steps in their one order, whichever process made them."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

from heedful.data.recipe import Cursor, Made, Recipe
from heedful.data.worker import ask, receive
from heedful.errors import HeedfulError

PATIENCE = 3  # times a worker may die in a row, without a step made, before that is an error


class Crew:
    """Workers that take turns, a step each. One that dies is replaced where it stood."""

    def __init__(self, recipe: Recipe, count: int) -> None:
        self._recipe = recipe
        self._workers: list[subprocess.Popen[bytes] | None] = [None] * count
        self._lock = threading.Lock()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers that have been started."""
        return [worker.pid for worker in self._workers if worker is not None]

    def steps(self, start: Cursor) -> Iterator[Made]:
        """The steps from `start` on, until `close`."""
        count = len(self._workers)
        for turn in range(count):
            self._start(turn, start, take=turn)
        turn, cursor, deaths = 0, start, 0
        while not self._closed:
            worker = self._workers[turn]
            if worker is None or worker.stdout is None:
                return
            try:
                made = receive(worker.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError):
                deaths += 1
                if deaths > PATIENCE:
                    raise HeedfulError(
                        f"a process that makes batches died {deaths} times in a row "
                        f"({_fate(worker)}). Is memory short? Set training.workers=0 to do without"
                    ) from None
                self._start(turn, cursor, take=0)
                continue
            yield made
            turn, cursor, deaths = (turn + 1) % count, made.cursor, 0

    def close(self) -> None:
        """End every worker; `steps` then ends too. Safe from any thread."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                if worker is not None:
                    worker.kill()
                    worker.wait()

    def _start(self, turn: int, cursor: Cursor, take: int) -> None:
        with self._lock:
            if self._closed:
                return
            before = self._workers[turn]
            if before is not None:
                before.kill()
                before.wait()
                _hang_up(before)
            worker = subprocess.Popen(
                [sys.executable, "-P", "-m", "heedful.data.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # ctrl-C is the trainer's to answer
            )
            self._workers[turn] = worker
            assert worker.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it died at once: reading will say so
                worker.stdin.write(ask(self._recipe, cursor, take, len(self._workers)))
                worker.stdin.flush()

    def hang_up(self) -> None:
        """Close the pipes, once nobody reads them any more."""
        for worker in self._workers:
            if worker is not None:
                _hang_up(worker)


def _hang_up(worker: "subprocess.Popen[bytes]") -> None:
    for pipe in (worker.stdin, worker.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):  # what was not yet written is for nobody now
                pipe.close()


def _fate(worker: "subprocess.Popen[bytes]") -> str:
    code = worker.wait()
    return f"signal {-code}" if code < 0 else f"exit status {code}"

"""Those whose decoding is compared: each decodes the same batches, again and again, in turn.

The others do so in processes of their own. What a library leaves behind in a process, such as
threads that wait by spinning, would slow down whoever comes next in it.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol

import torch

from heedful.bench.table import failure
from heedful.bench.timing import Peak, by_clock, free
from heedful.nn.heap import keep_freed

Ids = list[int]
Engine = Callable[[Sequence[Ids], int], list[Ids]]  # sources with their ends, a beam: outputs


@dataclass
class Shown:
    """What one has shown so far."""

    said: list[Ids] = field(default_factory=list)  # the last time
    seconds: list[float] = field(default_factory=list)  # of each turn
    peak_gb: float | None = None
    failure: str = ""


class Entrant(Protocol):
    """One who takes part."""

    @property
    def name(self) -> str: ...

    @property
    def precision(self) -> str: ...

    @property
    def shown(self) -> Shown: ...

    def warm_up(self, rounds: int) -> None: ...

    def take_a_turn(self) -> None: ...

    def close(self) -> None: ...


class Here:
    """One in this process. Who fails once is out, and says why."""

    def __init__(
        self,
        name: str,
        precision: str,
        make: Callable[[], Engine],
        beam: int,
        batches: Sequence[Sequence[Ids]],
        device: torch.device,
    ) -> None:
        self.name, self.precision, self.make = name, precision, make
        self.beam, self.batches, self.device = beam, batches, device
        self.engine: Engine | None = None
        self.shown = Shown()

    def warm_up(self, rounds: int) -> None:
        peak = Peak(self.device)

        def warm() -> None:
            self.engine = self.make()
            by_clock(self.work, self.device, repeats=0, warmup=rounds)

        self.attempt(warm)
        self.shown.peak_gb = peak.gigabytes()

    def take_a_turn(self) -> None:
        def turn() -> None:
            self.shown.seconds += by_clock(self.work, self.device, repeats=1, warmup=0)

        if not self.shown.failure:
            self.attempt(turn)

    def work(self) -> None:
        assert self.engine is not None
        outputs = (self.engine(batch, self.beam) for batch in self.batches)
        self.shown.said = [output for batch in outputs for output in batch]

    def attempt(self, doing: Callable[[], None]) -> None:
        try:
            doing()
        except Exception as error:  # no more of it is kept: it holds the memory it failed with
            self.shown.failure = failure(error)
        if self.shown.failure:
            self.close()

    def close(self) -> None:
        self.engine = None
        free(self.device)


class Away:
    """One in a process of its own."""

    def __init__(self, entrant: Here) -> None:
        self.name, self.precision, self.shown = entrant.name, entrant.precision, Shown()
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        arguments = (there, entrant, torch.get_num_threads())
        self.process = context.Process(target=_answer, args=arguments, daemon=True)
        self.process.start()
        there.close()

    def warm_up(self, rounds: int) -> None:
        self.ask("warm_up", rounds)

    def take_a_turn(self) -> None:
        if not self.shown.failure:
            self.ask("take_a_turn")

    def ask(self, what: str, *given: Any) -> None:
        try:
            self.pipe.send((what, given))
            self.shown = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            self.shown.failure = f"failed: its process ended with {self.process.exitcode}"

    def close(self) -> None:
        self.pipe.close()
        self.process.join()


@dataclass(frozen=True)
class Out:
    """One who could not even begin."""

    name: str
    precision: str
    shown: Shown

    def warm_up(self, rounds: int) -> None: ...

    def take_a_turn(self) -> None: ...

    def close(self) -> None: ...


def _answer(pipe: Connection, entrant: Here, threads: int) -> None:
    """Do what is asked, until nobody asks any more."""
    torch.set_num_threads(threads)
    if entrant.device.type == "cpu":
        keep_freed()  # as ours
    while True:
        try:
            what, given = pipe.recv()
        except EOFError:
            return
        getattr(entrant, what)(*given)
        pipe.send(entrant.shown)

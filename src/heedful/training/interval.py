"""What is added up between two lines of the log, and the clock it is measured by."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from heedful.data.loader import Step
from heedful.training.step import Outcome


class Clock:
    """Seconds of training: it stands still while the run evaluates or saves."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._before = seconds
        self._since = time.perf_counter()

    def seconds(self) -> float:
        return self._before + time.perf_counter() - self._since

    @contextmanager
    def paused(self) -> Iterator[None]:
        self._before = self.seconds()
        try:
            yield
        finally:
            self._since = time.perf_counter()


class Interval:
    """Sums over the steps since the last line, on the device until the next is written."""

    def __init__(self, device: torch.device, clock: Clock, saved: tuple[float, ...] = ()) -> None:
        """`saved` are the sums of an interval that a checkpoint cut in two."""
        sums = saved or (0.0,) * 7
        self.clock = clock
        self.sums = torch.tensor(sums[:4], dtype=torch.float64, device=device)
        self.tokens, self.slots, self.steps = (int(value) for value in sums[4:])
        self._restart_clock()

    def add(self, step: Step, outcome: Outcome) -> None:
        self.sums += outcome.sums
        self.tokens += step.tokens
        self.slots += step.slots
        self.steps += 1
        self._new_targets += step.targets
        self._new_steps += 1

    def saved(self) -> tuple[float, ...]:
        """What a checkpoint keeps, so that the next line says the same after resuming."""
        return (*self.sums.tolist(), self.tokens, self.slots, self.steps)

    def finish(self, steps_left: int) -> dict[str, Any]:
        """The means of this interval; the next one begins."""
        loss, weight, nll, norm = self.sums.tolist()
        seconds = self.clock.seconds()
        elapsed = max(seconds - self._began, 1e-9)
        line = {
            "loss": loss / max(weight, 1.0),
            "nll": nll / max(weight, 1.0),
            "grad_norm": norm / max(self.steps, 1),
            "padding": 1.0 - self.tokens / max(self.slots, 1),
            "tokens_per_second": self._new_targets / elapsed,
            "seconds": seconds,
            "left": steps_left * elapsed / max(self._new_steps, 1),
        }
        self.sums.zero_()
        self.tokens = self.slots = self.steps = 0
        self._restart_clock()
        return line

    def _restart_clock(self) -> None:
        self._began = self.clock.seconds()
        self._new_targets = self._new_steps = 0

"""Stops a run whose loss or gradient is no longer a number, and says which batch did it."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.distributed.processes import Processes
from heedful.errors import HeedfulError
from heedful.training.step import Outcome

SHOWN = 12  # examples named in the message; the log has all


class NonFinite(HeedfulError):
    """A loss or gradient is infinite or not a number."""

    def __init__(self, message: str, step: int, examples: list[int]) -> None:
        super().__init__(message)
        self.step = step
        self.examples = examples


@dataclass(frozen=True)
class _Watched:
    step: int
    examples: list[tuple[int, ...]]  # a tuple a part
    part_losses: Tensor
    finite: Tensor


class Guard:
    """Remembers the steps that were not yet looked at, so that looking can wait: each look at a
    number on a GPU stops it until the number is there."""

    def __init__(self, ranks: Processes) -> None:
        self.ranks = ranks
        self.waiting: list[_Watched] = []

    def watch(self, step: int, parts: list[Batch], outcome: Outcome) -> None:
        examples = [part.examples for part in parts]
        self.waiting.append(_Watched(step, examples, outcome.part_losses, outcome.finite))
        if self.ranks.device.type == "cpu":
            self.check()  # nothing to wait for

    def check(self) -> None:
        """Raise if any step since the last look went wrong. Every process comes to the same."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        finite = torch.stack([watched.finite for watched in waiting]).tolist()
        for watched, good in zip(waiting, finite, strict=True):
            if not good:
                self._stop(watched)

    def _stop(self, watched: _Watched) -> None:
        losses = watched.part_losses.tolist()
        mine = [
            [value, list(examples)]
            for value, examples in zip(losses, watched.examples, strict=True)
        ]
        parts = [
            part for rank in self.ranks.gather([[repr(v), e] for v, e in mine]) for part in rank
        ]
        bad = [(float(v), e) for v, e in parts if not math.isfinite(float(v))]
        what = f"loss is {bad[0][0]}" if bad else "gradient is not finite, though the loss is"
        examples = sorted({i for _, part in (bad or parts) for i in part})
        shown = ", ".join(map(str, examples[:SHOWN])) + (", …" if len(examples) > SHOWN else "")
        raise NonFinite(
            f"step {watched.step}: the {what}, in the batch of {len(examples)} training examples "
            f"{shown}. Look at these; or try a lower learning rate, a longer schedule.warmup, "
            "training.clip=1 or training.precision=fp32",
            watched.step,
            examples,
        )

"""A budget that several presets get alike, and how many steps it buys each of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from heedful.claims.arms import Budget
from heedful.data.preparation import Progress, prepare, silent
from heedful.doctor.trial import try_run
from heedful.errors import HeedfulError, UsageError, nearest
from heedful.runs.config import RunConfig

Unit = Literal["steps", "tokens", "seconds", "flops"]
UNITS: tuple[Unit, ...] = ("steps", "tokens", "seconds", "flops")


@dataclass(frozen=True)
class Spending:
    """So much of one thing: steps, tokens (slots of the larger side), seconds or FLOPs."""

    unit: Unit
    amount: float

    @classmethod
    def parse(cls, text: str) -> "Spending":
        """As an option writes it: `steps:2000`, `tokens:5e6`, `seconds:60`, `flops:1e15`."""
        unit, _, amount = text.partition(":")
        if unit not in UNITS:
            raise UsageError(
                f"a budget is steps:N, tokens:N, seconds:N or flops:N, got '{text}'."
                f"{nearest(unit, UNITS)}"
            )
        try:
            number = float(amount.replace("_", "").replace(",", ""))
        except ValueError:
            number = 0.0
        if not 1 <= number < float("inf"):
            raise UsageError(f"a budget must be a number of 1 or more, got '{text}'")
        return cls(unit, number)

    def __str__(self) -> str:
        return f"{self.unit}:{self.amount:g}"

    def buys(
        self, config: RunConfig, data: Path, device: torch.device, progress: Progress = silent
    ) -> Budget:
        """The steps that this config gets for it. Seconds are found by timing a few steps.

        FLOPs are 6 for each parameter and each slot of the larger side: a product and a sum
        forward, twice that backward.
        """
        if self.unit == "steps":
            return Budget(steps=int(self.amount))
        if self.unit == "tokens":
            return Budget(tokens=int(self.amount))
        prepared = prepare(config.problem_name, config.problem, data, progress)
        trial = try_run(config, prepared, device, progress=progress)
        if "seconds_per_step" not in trial.numbers:
            raise HeedfulError(f"{config.preset_name}: {trial.findings[-1].title}")
        if self.unit == "seconds":
            return Budget(steps=_steps(self.amount / trial.numbers["seconds_per_step"]))
        slots = config.preset.batch.tokens * config.preset.training.parts
        return Budget(steps=_steps(self.amount / (6 * trial.numbers["parameters"] * slots)))


def _steps(number: float) -> int:
    return max(1, int(number))

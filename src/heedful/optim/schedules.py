"""Learning rates: what each step is multiplied by. Steps count from 1."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from heedful.config import Choice


class Schedule(Choice, ABC):
    """The learning rate as a pure function of the step and the width of the model."""

    @abstractmethod
    def rate(self, step: int, dim: int) -> float:
        """The rate of step `step` (the first is 1) for a model of width `dim`."""


def rising(step: int, warmup: int) -> float:
    """The part of the full rate that a linear warm-up allows: step / warmup, then 1."""
    return min(step / warmup, 1.0) if warmup > 0 else 1.0


@dataclass(frozen=True, kw_only=True)
class Noam(Schedule, kind="noam"):
    """Up linearly, then down as 1/√step, narrower models faster.

    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, https://arxiv.org/abs/1706.03762,
    eq. 3, times `scale`.
    """

    scale: float = 1.0
    warmup: int = 4000

    def rate(self, step: int, dim: int) -> float:
        warmup = max(self.warmup, 1)
        return self.scale * dim**-0.5 * min(step**-0.5, step * warmup**-1.5)


@dataclass(frozen=True, kw_only=True)
class Rsqrt(Schedule, kind="rsqrt"):
    """Up linearly, then down as 1/√step, whatever the width: Tensor2Tensor's
    "constant*linear_warmup*rsqrt_decay"."""

    scale: float = 1.0
    warmup: int = 4000

    def rate(self, step: int, dim: int) -> float:
        return self.scale * rising(step, self.warmup) * max(step, self.warmup, 1) ** -0.5


@dataclass(frozen=True, kw_only=True)
class Exponential(Schedule, kind="exponential"):
    """Up linearly, then down by the factor `decay` every `every` steps, smoothly."""

    peak: float = 1e-3
    warmup: int = 1000
    decay: float = 0.5
    every: int = 10_000

    def rate(self, step: int, dim: int) -> float:
        past = max(step - self.warmup, 0)
        return self.peak * rising(step, self.warmup) * self.decay ** (past / self.every)


@dataclass(frozen=True, kw_only=True)
class Cosine(Schedule, kind="cosine"):
    """Up linearly, then down along half a cosine to `floor` at step `steps`, and flat from there.

    Loshchilov and Hutter, "SGDR", ICLR 2017, https://arxiv.org/abs/1608.03983, eq. 5, one period.
    """

    peak: float = 1e-3
    warmup: int = 1000
    steps: int = 100_000
    floor: float = 0.0

    def rate(self, step: int, dim: int) -> float:
        if step < self.warmup:
            return self.peak * rising(step, self.warmup)
        along = min((step - self.warmup) / max(self.steps - self.warmup, 1), 1.0)
        return self.floor + (self.peak - self.floor) * 0.5 * (1.0 + math.cos(math.pi * along))


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule, kind="constant"):
    """One rate throughout, after a linear warm-up if there is one."""

    peak: float = 1e-3
    warmup: int = 0

    def rate(self, step: int, dim: int) -> float:
        return self.peak * rising(step, self.warmup)

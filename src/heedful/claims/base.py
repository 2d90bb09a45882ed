"""Claims: what a paper says of a system, and the measurement here that shows whether it is so.

A claim is a small frozen record. How it is measured is a function in it, `measure(context)`; most
claims train a few systems under one budget, and take `Trainings` for that function.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from heedful.data.progress import Progress, silent
from heedful.registry import Registry

if TYPE_CHECKING:  # what takes long to import is left to those who measure
    from heedful.training.watchers import Watcher

FULL, SMOKE = "full", "smoke"

Point = Mapping[str, Any]  # of a curve: {"step": 100, "bleu": 31.4}


@dataclass(frozen=True, kw_only=True)
class Paper:
    """Where the claim was made, and the figure that stands there."""

    authors: str
    title: str
    venue: str
    url: str
    where: str  # the table, figure or section
    figure: str  # what it says there, in words: "41.02 BLEU"


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What the system must beat: a number measured beside it, or one that others published."""

    name: str
    number: str = ""  # which of the measured numbers it is
    published: str = ""  # the figure that others report, in words


@dataclass(frozen=True)
class Number:
    """One thing measured, with its spread: a value a seed."""

    by_seed: Mapping[int, float]
    signature: str = ""  # that makes a score citable

    @property
    def mean(self) -> float:
        return math.fsum(self.by_seed.values()) / len(self.by_seed)

    def to_json(self) -> dict[str, Any]:
        values = list(self.by_seed.values())
        return {
            "value": self.mean,
            "low": min(values),
            "high": max(values),
            "by_seed": {str(seed): value for seed, value in self.by_seed.items()},
            **({"signature": self.signature} if self.signature else {}),
        }


Numbers = Mapping[str, Number]  # by name: "en_de/bleu"


class Target(Protocol):
    """What must hold of the numbers for the claim to be reached."""

    def check(self, numbers: Numbers) -> str:
        """Why it does not hold, in words; nothing where it does."""

    def said(self) -> str:
        """The target in words."""

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a measurement gave: numbers, curves, and what they depend on."""

    numbers: Numbers
    curve: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    seconds: float = 0.0  # that it took in all, those of earlier processes among them
    notes: tuple[str, ...] = ()  # for whoever reads the record: "projected", "without the peer"
    commits: tuple[str, ...] = ()  # of the code, where parts were made by earlier ones
    hardware: tuple[str, ...] = ()  # likewise


@dataclass(frozen=True, kw_only=True)
class Context:
    """Where and how a claim is measured."""

    budget: Literal["full", "smoke"] = "full"
    seeds: tuple[int, ...] = ()  # none for those of the claim
    only: tuple[str, ...] = ()  # the arms to measure; none for all of them
    device: str = "auto"
    data: Path = Path("data")
    runs: Path = Path("runs/reproduce")  # the folder of this claim's runs
    fresh: bool = False  # begin anew instead of going on with what is there
    note: Callable[[str], None] = lambda _: None
    progress: Progress = silent  # is told of preparing
    watch: "Callable[[int, int], Watcher] | None" = None  # makes what is told of training

    @property
    def smoke(self) -> bool:
        """Whether only the code is to be tried: everything tiny, and nothing shown by it."""
        return self.budget == SMOKE

    def wants(self, arm: str) -> bool:
        return not self.only or arm in self.only

    def run_of(self, arm: str, seed: int) -> Path:
        """Where an arm is trained with a seed."""
        return self.runs / f"{arm}-seed{seed}"


Measure = Callable[[Context], Measured]


@runtime_checkable
class InArms(Protocol):
    """A measurement made arm by arm, so that any of them can be made beforehand, and elsewhere."""

    def arm_names(self) -> tuple[str, ...]: ...

    def __call__(self, context: Context) -> Measured:
        """What came of the arms that `context` wants."""


@dataclass(frozen=True)
class Piece:
    """An arm with a seed, which a process may measure by itself."""

    arm: str
    seed: int
    after: str = ""  # an arm that has to be there before


@runtime_checkable
class InPieces(InArms, Protocol):
    """One that may be made by several processes at once."""

    def pieces(self, context: Context) -> tuple[Piece, ...]: ...


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim: who made it, what it says, where it is shown here, and what must be reached."""

    name: str
    system: str
    paper: Paper
    statement: str  # the sentence claimed
    task: str  # what it is shown on here
    targets: tuple[Target, ...]
    baselines: tuple[Baseline, ...] = ()
    cost: str  # about how long, on what
    measure: Measure
    alone: bool = False  # whether it is about speed, so that nothing else may run beside it


claims: Registry[Claim] = Registry("claim", "heedful.claims")

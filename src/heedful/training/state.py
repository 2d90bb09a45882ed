"""Where a run stands: all that a checkpoint must hold beside tensors for the run to go on."""

from dataclasses import asdict, dataclass, field
from typing import Any

from heedful.data.loader import Cursor


@dataclass(frozen=True)
class Best:
    """The best evaluation so far."""

    step: int
    metric: str
    value: float
    merit: tuple[float, float]  # what evaluations are compared by: see `evaluation.merit`


@dataclass
class TrainState:
    """What changes from step to step. Random numbers are not here: they are made from the step."""

    step: int = 0
    cursor: Cursor = field(default_factory=Cursor)
    best: Best | None = None
    since_best: int = 0  # evaluations since the best one
    evaluated: int = 0  # the step of the last evaluation
    metrics: dict[str, Any] = field(default_factory=dict)  # what that evaluation gave
    seconds: float = 0.0  # spent training, by this and earlier processes
    tokens: int = 0  # target tokens seen
    interval: tuple[float, ...] = ()  # sums since the last line of the log

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "TrainState":
        saved = data["best"]
        best = Best(**{**saved, "merit": tuple(saved["merit"])}) if saved else None
        given = {**data, "cursor": Cursor(**data["cursor"]), "best": best}
        return cls(**{**given, "interval": tuple(data["interval"])})

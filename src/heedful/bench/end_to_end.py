"""Training as a user runs it, data path and all: the rate that its own log says."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from heedful.bench.table import Row
from heedful.bench.timing import Middle
from heedful.config import vary
from heedful.errors import HeedfulError
from heedful.runs.config import RunConfig
from heedful.training.trainer import train

LINES = 10  # of the log; the first few, which warm up, are left out
WARM = 3


class Rates:
    """Watches a run, and keeps the rates it tells."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def advance(self, step: int) -> None:
        pass

    def record(self, record: dict[str, Any]) -> None:
        if record["kind"] == "train":
            self.found.append(float(record["tokens_per_second"]))

    def note(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


def whole_run(
    name: str,
    unit: str,
    config: RunConfig,
    steps: int,
    bare: Row,
    device: torch.device,
    data: Path,
) -> Row:
    """Train so many steps in a folder that is thrown away; the rate of its log beside that of bare
    steps, and which share of it that is."""
    every = max(1, steps // LINES)
    changes = {
        "training.steps": steps,
        "training.log_every": every,
        "training.evaluate_every": 0,
        "training.evaluate_examples": 1,
        "training.checkpoint_every": 0,
        "training.average": 0,
    }
    config = replace(config, preset=vary(config.preset, changes))
    rates = Rates()
    with tempfile.TemporaryDirectory(prefix="heedful-bench-") as folder:
        train(
            config, Path(folder) / "run", data, device=str(device), watch=lambda steps, step: rates
        )
    steady = rates.found[WARM:] if len(rates.found) > WARM else rates.found[-1:]
    if not steady:
        raise HeedfulError(f"a run of {steps} steps told no rate. Take more: --end-to-end N")
    middle = Middle.of(steady)
    share = middle.value / bare.value if bare.value else None
    return Row.of(name, unit, middle, {"share_of_step": share, "steps": steps, "bare": bare.name})

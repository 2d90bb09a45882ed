"""What a run is: a problem and a preset, resolved to the last field, written as config.json."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful import __version__, registry
from heedful.config import difference, from_json, to_json
from heedful.errors import HeedfulError
from heedful.presets.base import Preset
from heedful.problems.base import Problem

FORMAT = 1
NAME = "config.json"

# Fields that say how long and how often, not what is computed: these may change on resuming.
FREE = frozenset(
    {
        "training.steps",
        "training.log_every",
        "training.evaluate_every",
        "training.evaluate_examples",
        "training.checkpoint_every",
        "training.keep_last",
        "training.keep_best",
        "training.disk_cap_gb",
        "training.patience",
        "training.average",
        "training.workers",
    }
)


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that decides what a run computes."""

    problem_name: str
    problem: Problem
    preset_name: str
    preset: Preset

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "heedful": __version__,
            "problem": {"name": self.problem_name, "fields": to_json(self.problem)},
            "preset": self.preset_name,
            "settings": to_json(self.preset),
        }

    def write(self) -> str:
        """The content of config.json."""
        return json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n"

    def changes(self, after: "RunConfig") -> tuple[list[str], list[str]]:
        """What differs in `after`, a line each: what may change on resuming, and what may not."""
        lines = difference(self._compared(), after._compared())
        free = [line for line in lines if line.partition(":")[0] in FREE]
        return free, [line for line in lines if line not in free]

    def _compared(self) -> dict[str, Any]:
        problem = {"name": self.problem_name, **to_json(self.problem)}
        return {"problem": problem, **to_json(self.preset)}


def read_config(folder: Path) -> RunConfig:
    """The config of the run in `folder`, or an error that says what is wrong with it."""
    path = folder / NAME
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeedfulError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise HeedfulError(
            f"{path} is torn or not JSON ({error}). Restore it, or train anew"
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise HeedfulError(f"{path} is not the config of a run: it names no format")
    if data["format"] > FORMAT:
        raise HeedfulError(
            f"{path} was written by heedful {data.get('heedful', '?')}, format {data['format']}; "
            f"this one reads up to {FORMAT}: upgrade"
        )
    missing = [name for name in ("problem", "preset", "settings") if name not in data]
    if missing:
        raise HeedfulError(f"{path} lacks {', '.join(missing)}. Restore it, or train anew")
    registry.models.names()  # walk the room, so that every kind of model can be read
    named = data["problem"]
    if not isinstance(named, dict) or "name" not in named:
        raise HeedfulError(f"{path}: its problem has no name. Restore it, or train anew")
    default = registry.problems.get(named["name"])()
    return RunConfig(
        problem_name=named["name"],
        problem=from_json(type(default), named.get("fields", {}), "problem"),
        preset_name=data["preset"],
        preset=from_json(Preset, data["settings"], "settings"),
    )

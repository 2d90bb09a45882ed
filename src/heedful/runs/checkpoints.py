"""Checkpoints: a folder each, written beside and renamed, every file under a checksum."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from heedful.errors import HeedfulError, UsageError
from heedful.runs import durable

MODEL, OPTIM, EMA = "model", "optim", "ema"
STATE, MANIFEST, BEST = "state.json", "manifest.json", "best.json"
AVERAGE = "average"
_STEP = re.compile(r"step-(\d+)")


class Damaged(HeedfulError):
    """A checkpoint is not what was written: a file is gone, cut short or changed."""


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint on disk. Weights are read when asked for."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def step(self) -> int | None:
        """The step it was written after; None for an average."""
        return step_of(self.name)

    @property
    def weights(self) -> str:
        """Which tensors decoding uses: the moving average where the run keeps one."""
        return EMA if (self.path / f"{EMA}.safetensors").exists() else MODEL

    def tensors(self, kind: str) -> dict[str, Tensor]:
        return load_file(self.path / f"{kind}.safetensors")

    def has(self, kind: str) -> bool:
        return (self.path / f"{kind}.safetensors").exists()

    def state(self) -> dict[str, Any]:
        """What state.json says."""
        return _object(self.path / STATE)

    def sha256(self, kind: str) -> str:
        """The checksum of these tensors' file, as the manifest has it."""
        return str(_object(self.path / MANIFEST)["files"][f"{kind}.safetensors"]["sha256"])

    def size(self) -> int:
        """How many bytes it takes on disk."""
        return sum(file.stat().st_size for file in self.path.iterdir())

    def verify(self) -> None:
        """Raise `Damaged` unless every file is there with the size and checksum it was given."""
        files = _object(self.path / MANIFEST).get("files")
        if not isinstance(files, dict) or f"{MODEL}.safetensors" not in files:
            raise Damaged(f"{self.path}: {MANIFEST} does not list the model's weights")
        for name, expected in files.items():
            path = self.path / name
            if not path.is_file():
                raise Damaged(f"{self.path}: {name} is missing")
            size = path.stat().st_size
            if size != expected["bytes"]:
                raise Damaged(
                    f"{self.path}: {name} has {size} bytes, should be {expected['bytes']}"
                )
            if durable.sha256(path) != expected["sha256"]:
                raise Damaged(f"{self.path}: {name} is not what was written (its checksum differs)")


class Checkpoints:
    """The checkpoints of one run, in the folder `checkpoints/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def steps(self) -> list[Checkpoint]:
        """Those written after a step, oldest first."""
        if not self.folder.is_dir():
            return []
        found = [Checkpoint(p) for p in self.folder.iterdir() if step_of(p.name) is not None]
        return sorted(found, key=lambda checkpoint: checkpoint.step or 0)

    def at(self, step: int) -> Checkpoint:
        return Checkpoint(self.folder / f"step-{step}")

    def newest(self, warn: Callable[[str], None]) -> Checkpoint | None:
        """The newest that is whole; damaged ones on the way are named to `warn`."""
        for checkpoint in reversed(self.steps()):
            try:
                checkpoint.verify()
            except Damaged as damage:
                warn(f"damaged checkpoint left aside: {damage}")
                continue
            return checkpoint
        return None

    def find(self, which: str | None, warn: Callable[[str], None]) -> Checkpoint:
        """The one asked for: `latest`, `best`, `average` or `step-N`; None for the best where the
        run was evaluated, else the latest."""
        if which is None:
            if self.best() is None:
                return self.find("latest", warn)
            try:
                return self.find("best", warn)
            except HeedfulError as error:
                warn(f"{error}; using the latest")
                return self.find("latest", warn)
        if which == "latest":
            newest = self.newest(warn)
            if newest is None:
                raise HeedfulError(f"{self.folder} holds no whole checkpoint. Train the run first")
            return newest
        if which == "best":
            best = self.best()
            if best is None:
                raise HeedfulError(
                    f"{self.folder} has no best checkpoint: it was not evaluated. {self._has()}"
                )
            return self._whole(f"step-{best['step']}")
        if which == AVERAGE or step_of(which) is not None:
            return self._whole(which)
        raise UsageError(
            f"no checkpoint is named '{which}': ask for latest, best, average or step-N. "
            f"{self._has()}"
        )

    def _whole(self, name: str) -> Checkpoint:
        checkpoint = Checkpoint(self.folder / name)
        if not checkpoint.path.is_dir():
            hint = " Make one: heedful average RUN --last 5." if name == AVERAGE else ""
            raise HeedfulError(f"{self.folder} has no {name}.{hint} {self._has()}")
        checkpoint.verify()
        return checkpoint

    def best(self) -> dict[str, Any] | None:
        """What best.json says: step, metric, value."""
        path = self.folder / BEST
        return _object(path) if path.exists() else None

    def write(
        self, name: str, tensors: Mapping[str, Mapping[str, Tensor]], state: Any
    ) -> Checkpoint:
        """Write one under `name`: each set of tensors as a safetensors file, `state` as JSON."""
        path, beside = self.folder / name, None
        try:
            beside = durable.begin_folder(path)
            for kind, named in tensors.items():
                if named:
                    save_file(dict(named), beside / f"{kind}.safetensors")
            (beside / STATE).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
            files = {
                file.name: {"bytes": file.stat().st_size, "sha256": durable.sha256(file)}
                for file in sorted(beside.iterdir())
            }
            (beside / MANIFEST).write_text(
                json.dumps({"format": 1, "files": files}, indent=1) + "\n"
            )
            durable.place_folder(beside, path)
        except (OSError, SafetensorError) as error:
            if beside is not None:
                shutil.rmtree(beside, ignore_errors=True)
            raise HeedfulError(self._could_not_write(path, error)) from error
        return Checkpoint(path)

    def write_best(self, step: int, metric: str, value: float) -> None:
        """Point at the best checkpoint so far."""
        content = json.dumps({"step": step, "metric": metric, "value": value}) + "\n"
        try:
            durable.write_file(self.folder / BEST, content)
        except OSError as error:
            raise HeedfulError(self._could_not_write(self.folder / BEST, error)) from error

    def _could_not_write(self, path: Path, error: Exception) -> str:
        free = shutil.disk_usage(self.folder if self.folder.is_dir() else Path("/")).free
        last = self.newest(lambda _: None)
        stays = (
            f"the last good checkpoint, {last.name}, stays"
            if last
            else "no earlier checkpoint is there"
        )
        return (
            f"could not write {path} ({error}); {free / 1e9:.2f} GB are free on that disk, and "
            f"{stays}. Make room (or set training.disk_cap_gb) and go on with --resume"
        )

    def _has(self) -> str:
        names = [c.name for c in self.steps()]
        if (self.folder / AVERAGE).is_dir():
            names.append(AVERAGE)
        return f"It has: {', '.join(names)}" if names else "It has none"


def step_of(name: str) -> int | None:
    match = _STEP.fullmatch(name)
    return int(match[1]) if match else None


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint; anything else there is damage."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Damaged(f"{path.parent}: {path.name} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise Damaged(f"{path.parent}: {path.name} is torn ({error})") from error
    if not isinstance(data, dict):
        raise Damaged(f"{path.parent}: {path.name} does not hold an object")
    return data

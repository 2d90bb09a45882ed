"""Arms: the systems of a claim, trained under one budget and read by the same rules."""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from heedful.claims import circumstances
from heedful.claims.base import Context, Measured, Number, Numbers, Piece, Point
from heedful.claims.logs import points, speed
from heedful.claims.readings import Reading, read
from heedful.config import vary
from heedful.distributed.processes import pick_device
from heedful.errors import HeedfulError, UsageError
from heedful.metrics.base import Score
from heedful.presets.base import Preset
from heedful.registry import presets, problems
from heedful.runs import durable
from heedful.runs.averaging import average_checkpoints
from heedful.runs.config import NAME, RunConfig
from heedful.runs.folder import RunFolder
from heedful.training.guard import NonFinite
from heedful.training.trainer import train
from heedful.training.watchers import person

PROBLEM = "problem."  # settings that begin so are the problem's, the others the preset's


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One system of a claim: what is trained on what, and what is read off it."""

    name: str
    problem: str
    preset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    readings: tuple[Reading, ...] = ()
    seeds: tuple[int, ...] = ()  # where fewer will do than the claim's


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How long every arm is trained: so many steps, or as many as make so many tokens.

    Schedules that end at a step end at the last.
    """

    steps: int = 0
    tokens: int = 0  # slots of the larger side, as `batch.tokens` counts them

    def __post_init__(self) -> None:
        if bool(self.steps) == bool(self.tokens):
            raise UsageError("a budget is either steps or tokens")

    def spent_on(self, preset: Preset) -> Preset:
        a_step = preset.batch.tokens * preset.training.parts
        steps = self.steps or max(1, self.tokens // a_step)
        changes = {"training.steps": steps}
        if hasattr(preset.schedule, "steps"):
            changes["schedule.steps"] = steps
        return vary(preset, changes)


@dataclass(frozen=True, kw_only=True)
class Small:
    """How a claim shrinks to seconds on a CPU: settings that every arm is given on top of its own.

    Where the data would have to be downloaded, `problem` stands in for it.
    """

    settings: Mapping[str, Any]
    problem: str = ""
    steps: int = 2
    examples: int = 2  # that are decoded


Look = Callable[[Arm, int, Context], Mapping[str, float]]  # at the run of an arm with a seed
Compare = Callable[[Numbers], Numbers]


@dataclass(frozen=True, kw_only=True)
class Trainings:
    """Measures a claim by training its arms, each with every seed, under one budget.

    Gives a number for each reading (`ARM/READING`), and `ARM/seconds` and `ARM/tokens_per_second`
    of the training. A run that is done already is used, one that was cut short goes on.
    """

    arms: tuple[Arm, ...]
    budget: Budget
    seeds: tuple[int, ...] = (1, 2, 3)
    small: Small
    look: Look | None = None  # finds further numbers of a run that is trained
    compare: Compare | None = None  # makes further ones of those of several arms
    notes: tuple[str, ...] = ()

    def arm_names(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.arms)

    def pieces(self, context: Context) -> tuple[Piece, ...]:
        return tuple(
            Piece(arm.name, seed) for arm in self.arms for seed in self.seeds_of(context, arm)
        )

    def seeds_of(self, context: Context, arm: Arm | None = None) -> tuple[int, ...]:
        """The seeds that are trained with: all of them, or those of an arm."""
        usual = self.seeds if arm is None else arm.seeds or self.seeds
        return self.seeds[:1] if context.smoke else context.seeds or usual

    def __call__(self, context: Context) -> Measured:
        seeds = self.seeds_of(context)
        numbers: dict[str, dict[int, float]] = {}
        signatures: dict[str, str] = {}
        curve: dict[str, list[Point]] = {}
        trained: list[Trained] = []
        reading_took = 0.0
        for arm in self.arms:
            for seed in self.seeds_of(context, arm) if context.wants(arm.name) else ():
                run = self.train(arm, seed, context)
                trained.append(run)
                curve[run.path.name] = points(run.path)
                found = {"seconds": run.seconds, "tokens_per_second": speed(run.path)}
                began = time.monotonic()
                for reading in arm.readings:
                    context.note(f"{run.path.name}: decoding {reading.name or reading.split}")
                    examples = self.small.examples if context.smoke else 0
                    for name, score in run.read(reading, context, examples).items():
                        found[name] = score["value"]
                        signatures[f"{arm.name}/{name}"] = score.get("signature", "")
                if self.look is not None:
                    context.note(f"{run.path.name}: looking")
                    found |= self.look(arm, seed, context)
                reading_took += time.monotonic() - began
                for name, value in found.items():
                    numbers.setdefault(f"{arm.name}/{name}", {})[seed] = value
        whole: Numbers = {
            name: Number(values, signatures.get(name, "")) for name, values in numbers.items()
        }
        return Measured(
            numbers=whole if self.compare is None else {**whole, **self.compare(whole)},
            curve=curve,
            seeds=seeds,
            seconds=math.fsum(run.seconds for run in trained) + reading_took,
            notes=(
                *self.notes,
                *(note for run in trained for note in run.notes),
                *side_by_side(trained),
            ),
            commits=tuple(dict.fromkeys(c for run in trained for c in run.origin["commits"])),
            hardware=tuple(dict.fromkeys(h for run in trained for h in run.origin["hardware"])),
        )

    def config(self, arm: Arm, seed: int, smoke: bool) -> RunConfig:
        """What an arm trains with a seed, resolved."""
        name, settings, budget = arm.problem, dict(arm.settings), self.budget
        if smoke:
            if self.small.problem:
                name = self.small.problem
                settings = {k: v for k, v in settings.items() if not k.startswith(PROBLEM)}
            settings |= self.small.settings
            budget = Budget(steps=self.small.steps)
        of_problem = {
            k.removeprefix(PROBLEM): v for k, v in settings.items() if k.startswith(PROBLEM)
        }
        of_preset = {k: v for k, v in settings.items() if not k.startswith(PROBLEM)}
        preset = vary(presets.get(arm.preset)(), {**of_preset, "training.seed": seed})
        return RunConfig(
            problem_name=name,
            problem=vary(problems.get(name)(), of_problem),
            preset_name=arm.preset,
            preset=budget.spent_on(preset),
        )

    def train(self, arm: Arm, seed: int, context: Context) -> "Trained":
        """The run of an arm with a seed: the one that is there, or trained now."""
        config = self.config(arm, seed, context.smoke)
        path = context.run_of(arm.name, seed)
        if context.fresh and path.exists():
            durable.delete_folder(path)
            _origin_of(path).unlink(missing_ok=True)
        if _finished(path, config, context):
            context.note(f"{path} is trained already and is used")
            return Trained(path, read_origin(path))
        context.note(f"training {path.name}: {config.preset_name} on {config.problem_name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        resume = (path / NAME).exists()
        origin = joined(read_origin(path) if resume else NOWHERE, context.device)
        origin.pop("scores", None)  # of before it went on
        began, hour = time.monotonic(), time.time()
        notes: tuple[str, ...] = ()
        try:
            train(
                config,
                path,
                context.data,
                resume=resume,
                device=context.device,
                progress=context.progress,
                watch=context.watch or person,
            )
        except NonFinite as error:  # that it came to nothing is a result too, if there is any
            there = len(RunFolder.open(path).checkpoints.steps())
            if not there:
                raise
            if config.preset.training.average:
                average_checkpoints(path, last=min(config.preset.training.average, there))
            notes = (f"{path.name} stopped: {error}",)
        finally:
            origin["seconds"] += time.monotonic() - began
            origin["spans"] = [*origin["spans"], [hour, time.time()]]
            durable.write_file(_origin_of(path), json.dumps(origin, indent=1) + "\n")
        return Trained(path, origin, notes)


@dataclass(frozen=True)
class Trained:
    """A run of an arm, and under which circumstances it was made."""

    path: Path
    origin: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Wall time of the training in all: preparing, evaluating and saving among it."""
        return float(self.origin["seconds"])

    def read(self, reading: Reading, context: Context, examples: int) -> dict[str, Score]:
        """The scores of a reading. What the same code has read before is not read again."""
        commit = circumstances.commit()
        key = json.dumps([commit, asdict(reading), examples], sort_keys=True)
        kept = self.origin.setdefault("scores", {})
        if key not in kept or not circumstances.is_known(commit):
            kept[key] = read(reading, self.path, context, examples)
            durable.write_file(_origin_of(self.path), json.dumps(self.origin, indent=1) + "\n")
        found: dict[str, Score] = kept[key]
        return found


def _finished(path: Path, config: RunConfig, context: Context) -> bool:
    """Whether the run is there and done; one of another config there is an error."""
    if not (path / NAME).exists():
        return False
    folder = RunFolder.open(path)
    free, bound = folder.config().changes(config)
    changed = bound + [line for line in free if line.startswith("training.steps:")]
    if changed:
        raise UsageError(
            f"{path} holds a run of another config: {'; '.join(changed)}. "
            "Train anew with --fresh, or move that folder away"
        )
    newest = folder.checkpoints.newest(context.note)
    if newest is None:
        return False
    training = config.preset.training
    averaged = not training.average or (folder.checkpoints.folder / "average").is_dir()
    patient = 0 < training.patience <= newest.state()["since_best"]
    return averaged and (patient or (newest.step or 0) >= training.steps)


NOWHERE: dict[str, Any] = {"commits": [], "hardware": [], "seconds": 0.0, "spans": []}


def _origin_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def read_origin(path: Path) -> dict[str, Any]:
    """Under which commits and on which machines a run was trained, and how long it took."""
    try:
        return {**NOWHERE, **json.loads(_origin_of(path).read_text(encoding="utf-8"))}
    except FileNotFoundError:
        return dict(NOWHERE)
    except (OSError, ValueError) as error:
        raise HeedfulError(
            f"{_origin_of(path)} cannot be read ({error}). Train anew with --fresh"
        ) from error


def joined(origin: dict[str, Any], device: str) -> dict[str, Any]:
    """The origin of a run that goes on here and now."""
    here = {
        "commits": circumstances.commit(),
        "hardware": circumstances.hardware(pick_device(device)),
    }
    return {
        **origin,
        **{k: list(dict.fromkeys([*origin[k], said])) for k, said in here.items()},
    }


def side_by_side(runs: Iterable[Trained]) -> Iterator[str]:
    """What is to be said where runs were trained at the same time."""
    spans = sorted(span for run in runs for span in run.origin["spans"])
    if any(later[0] < earlier[1] for earlier, later in pairwise(spans)):
        yield (
            "runs were trained side by side, so `seconds` and `tokens_per_second` may be those of "
            "a machine that is shared"
        )

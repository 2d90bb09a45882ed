"""`heedful train`: a problem and a preset into a run folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.interactive import converse
from heedful.cli.options import (
    DATA,
    Data,
    Device,
    Plugins,
    Settings,
    load_plugins,
    problem_and_preset,
    split_settings,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import first, say
from heedful.config import parse_settings, vary
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.runs.config import RunConfig
    from heedful.training.trainer import TrainResult

OWN_FILES = "own_files"
OWN_FILES_PRESET = "transformer_base_single_gpu"


def train(
    problem: Annotated[
        str | None, typer.Argument(metavar="PROBLEM", help="See: heedful list problems.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="See: heedful list presets.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="RUN", help="The folder of the run.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="FILE", help="Your own text, one sentence a line."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="FILE", help="Its translation, line by line.")
    ] = None,
    settings: Settings = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Train for so many steps.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of first weights, order and dropout.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in RUN.")] = False,
    allow_changes: Annotated[
        bool, typer.Option("--allow-changes", help="Resume though the config differs.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="When trained, decode what is typed.")
    ] = False,
    device: Device = "auto",
    data: Data = DATA,
    plugin: Plugins = None,
) -> None:
    """Train a model. Data is prepared first if it is not there.

    PROBLEM may be left out with --source and --target (your own files), and with --resume (all that
    is not given is as in the run).

    \b
    Example:
      heedful train algorithmic_reverse_binary40 --preset transformer_tiny --out runs/reverse
      heedful train --source train.en --target train.de --out runs/own
      heedful train --out runs/own --resume --steps 20000
    """
    if out is None:
        raise UsageError("train needs --out RUN, the folder that the run is written to")
    load_plugins(plugin)
    changes = list(settings or ())
    if steps is not None:
        changes.append(f"training.steps={steps}")
    if seed is not None:
        changes.append(f"training.seed={seed}")
    if source is not None or target is not None:
        problem, preset = _own_files(problem, preset, source, target)
        changes = [f"problem.source={source}", f"problem.target={target}", *changes]
    if resume and preset is None:
        config = _resumed(out, problem, changes)
    else:
        config = run_config(problem, preset, changes)
    say(
        summary(
            train_run(
                config, out, Path(data), resume=resume, allow_changes=allow_changes, device=device
            )
        )
    )
    if interactive and first():
        import heedful

        converse(heedful.load(out, device=device))


def run_config(problem: str | None, preset: str | None, settings: Iterable[str]) -> "RunConfig":
    """The config of a new run."""
    from heedful.runs.config import RunConfig

    if problem is None:
        raise UsageError(
            "train needs a PROBLEM (see: heedful list problems), or --source FILE --target FILE"
        )
    if preset is None:
        raise UsageError("train needs --preset NAME. See: heedful list presets")
    made, numbers = problem_and_preset(problem, preset, settings)
    return RunConfig(problem_name=problem, problem=made, preset_name=preset, preset=numbers)


def train_run(
    config: "RunConfig",
    out: Path,
    data: Path,
    *,
    resume: bool = False,
    allow_changes: bool = False,
    device: str = "auto",
) -> "TrainResult":
    """Train, with the preparing and the training shown on stderr."""
    from heedful.training import trainer

    progress = Progress()
    result = trainer.train(
        config,
        out,
        data,
        resume=resume,
        allow_changes=allow_changes,
        device=device,
        progress=progress,
    )
    progress.end()
    return result


def summary(result: "TrainResult") -> str:
    """What came of training, in a line or two."""
    values = "  ".join(f"{name} {entry['value']:.4g}" for name, entry in result.metrics.items())
    lines = [f"{result.folder}: trained to step {result.step} in {result.seconds:.0f} s"]
    if values:
        lines.append(f"valid: {values}")
    if result.best is not None:
        best = result.best
        lines.append(f"best: step-{best.step}, {best.metric} {best.value:.4g}")
    return "\n".join(lines)


def _own_files(
    problem: str | None, preset: str | None, source: str | None, target: str | None
) -> tuple[str, str]:
    if source is None or target is None:
        missing = "--source" if source is None else "--target"
        raise UsageError(f"your own files come in pairs: {missing} FILE is missing")
    if problem not in (None, OWN_FILES):
        raise UsageError(
            f"--source and --target are the problem, so '{problem}' cannot be: "
            "leave one of them out"
        )
    return OWN_FILES, preset or OWN_FILES_PRESET


def _resumed(out: Path, problem: str | None, settings: Iterable[str]) -> "RunConfig":
    """The config that a run has, with what `--set` and the like change in it."""
    from heedful.runs.config import RunConfig
    from heedful.runs.folder import RunFolder

    there = RunFolder.open(out).config()
    if problem not in (None, there.problem_name):
        return run_config(problem, there.preset_name, settings)
    of_problem, of_preset = split_settings(parse_settings(settings))
    return RunConfig(
        problem_name=there.problem_name,
        problem=vary(there.problem, of_problem),
        preset_name=there.preset_name,
        preset=vary(there.preset, of_preset),
    )

"""`heedful train`: a problem and a preset into a run folder."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli import initial, labelled_files, own_files
from heedful.cli.borrowed import numbers_of
from heedful.cli.interactive import converse
from heedful.cli.options import (
    DATA,
    AnyProblem,
    Data,
    Device,
    Plugins,
    PresetName,
    Settings,
    load_plugins,
    split_settings,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import first, say
from heedful.config import parse_settings, vary
from heedful.errors import UsageError
from heedful.registry import presets, problems

if TYPE_CHECKING:
    from heedful.runs.config import RunConfig
    from heedful.training.trainer import TrainResult


def train(
    problem: AnyProblem = None,
    preset: PresetName = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="RUN", help="The folder of the run.")
    ] = None,
    source: own_files.Source = None,
    target: own_files.Target = None,
    pairs: own_files.Pairs = None,
    fields: own_files.Fields = None,
    to: own_files.To = None,
    valid_source: own_files.ValidSource = None,
    valid_target: own_files.ValidTarget = None,
    valid_pairs: own_files.ValidPairs = None,
    test_source: own_files.TestSource = None,
    test_target: own_files.TestTarget = None,
    test_pairs: own_files.TestPairs = None,
    text: labelled_files.TextFiles = None,
    text_column: labelled_files.TextColumn = None,
    label_column: labelled_files.LabelColumn = None,
    valid_text: labelled_files.ValidText = None,
    test_text: labelled_files.TestText = None,
    settings: Settings = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Train for so many steps.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of first weights, order and dropout.")
    ] = None,
    init: initial.Init = None,
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

    PROBLEM may be left out with your own files (--source and --target, or --pairs; .gz, .bz2, .xz
    and .zst are unpacked), and with --resume (all that is not given is as in the run).

    \b
    Example:
      heedful train algorithmic_reverse_binary40 --preset transformer_tiny --out runs/reverse
      heedful train --source train.en --target train.de --out runs/own
      heedful train --pairs train.jsonl.gz --fields en,de --valid-pairs valid.jsonl --out runs/own
      heedful train --out runs/own --resume --steps 20000
      heedful train --source more.en --target more.de --init runs/own --out runs/tuned
      heedful train --source a.en --target a.de --to de --pairs b.tsv --to fr --out runs/many
      heedful train --text reviews.tsv --text-column review --label-column stars --out runs/stars
    """
    if out is None:
        raise UsageError("train needs --out RUN, the folder that the run is written to")
    load_plugins(plugin)
    changes = list(settings or ())
    if steps is not None:
        changes.append(f"training.steps={steps}")
    if seed is not None:
        changes.append(f"training.seed={seed}")
    files = own_files.changes(
        {
            "source": source,
            "target": target,
            "pairs": pairs,
            "fields": fields,
            "to": to,
            "valid_source": valid_source,
            "valid_target": valid_target,
            "valid_pairs": valid_pairs,
            "test_source": test_source,
            "test_target": test_target,
            "test_pairs": test_pairs,
        }
    )
    labelled = labelled_files.changes(
        {
            "train": text,
            "columns": text_column,
            "label": label_column,
            "valid": valid_text,
            "test": test_text,
        }
    )
    if labelled:
        problem = labelled_files.problem_for(labelled, files, problem)
        files = labelled
    else:
        problem = own_files.problem_for(files, problem)
    base = None
    if init is not None:
        base = initial.base_of(init, resume)
        changes.append(f"training.init={init}")
        if problem is not None:
            files = {**initial.vocabulary_of(init, problem), **files}
    if resume and preset is None:
        config = _resumed(out, problem, changes, files)
    else:
        named = preset or (base.preset_name if base else own_files.PRESET if files else None)
        if labelled and preset is None:
            named = labelled_files.preset_for(labelled, base)
        config = run_config(problem, named, [*numbers_of(base, named), *changes], files)
        # Where none is named, all numbers are as in the run it begins from.
        if base is not None and preset is None and named == base.preset_name:
            numbers = vary(base.preset, split_settings(parse_settings(changes))[1])
            config = replace(config, preset=numbers)
    labelled_files.check_files(config.problem)
    own_files.check_files(
        config.problem, preset_named=resume or preset is not None or base is not None
    )
    if interactive:
        _check_interactive(config.problem, out)
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


def run_config(
    problem: str | None,
    preset: str | None,
    settings: Iterable[str],
    files: Mapping[str, Any] | None = None,
) -> "RunConfig":
    """The config of a new run. `files` are fields of the problem too, which `--set` may change."""
    from heedful.runs.config import RunConfig

    if problem is None:
        raise UsageError(
            "no PROBLEM is named: give one (see: heedful list problems), or --source FILE "
            "--target FILE"
        )
    if preset is None:
        raise UsageError("no preset is named: give --preset NAME. See: heedful list presets")
    of_problem, of_preset = split_settings(parse_settings(settings))
    return RunConfig(
        problem_name=problem,
        problem=vary(problems.get(problem)(), {**(files or {}), **of_problem}),
        preset_name=preset,
        preset=vary(presets.get(preset)(), of_preset),
    )


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


def _check_interactive(problem: Any, out: Path) -> None:
    """An error if it would have to be said which language to write."""
    tags = _tags(problem)
    if tags:
        raise UsageError(
            f"--interactive cannot know which of {', '.join(tags)} to write. Train without it, "
            f"then: heedful decode {out} --to {tags[0]} --interactive"
        )


def _tags(problem: Any) -> list[str]:
    from heedful.data.mixture import members_of

    return list(dict.fromkeys(member.tag for member in members_of(problem).values()))


def _resumed(
    out: Path, problem: str | None, settings: Iterable[str], files: Mapping[str, Any]
) -> "RunConfig":
    """The config that a run has, with what `--set` and the like change in it."""
    from heedful.runs.config import RunConfig
    from heedful.runs.folder import RunFolder

    there = RunFolder.open(out).config()
    if problem not in (None, there.problem_name):
        return run_config(problem, there.preset_name, settings, files)
    of_problem, of_preset = split_settings(parse_settings(settings))
    return RunConfig(
        problem_name=there.problem_name,
        problem=vary(there.problem, {**files, **of_problem}),
        preset_name=there.preset_name,
        preset=vary(there.preset, of_preset),
    )

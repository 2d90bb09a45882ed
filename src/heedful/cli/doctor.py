"""`heedful doctor`: what is so about the data and the run, before hours are spent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli import own_files
from heedful.cli.options import (
    DATA,
    AnyProblem,
    Data,
    Device,
    Json,
    Plugins,
    PresetName,
    Settings,
    load_plugins,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import first, note, say, say_json
from heedful.cli.train import run_config
from heedful.errors import HeedfulError

if TYPE_CHECKING:
    from heedful.doctor.report import Report


def doctor(
    problem: AnyProblem = None,
    preset: PresetName = None,
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
    settings: Settings = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with histograms, too."),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            "--examples", metavar="N", min=0, help="Texts of each split to read; 0 for all."
        ),
    ] = 50_000,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if there is a problem.")
    ] = False,
    json: Json = False,
    device: Device = "auto",
    data: Data = DATA,
    plugin: Plugins = None,
) -> None:
    """Look at the data and try the run, before hours are spent.

    Says what is left out and why, what is there twice or seems wrong, and how much memory, time and
    disk the run will take. The worst comes first.

    \b
    Example:
      heedful doctor algorithmic_reverse_binary40 --preset transformer_tiny
      heedful doctor --source train.en --target train.fr --preset transformer_small --html look.html
    """
    load_plugins(plugin)
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
    problem = own_files.problem_for(files, problem)
    if files:
        preset = preset or own_files.PRESET
    config = run_config(problem, preset, settings or (), files)
    from heedful.doctor.examination import examine

    progress = Progress()
    report = examine(config, Path(data), device=device, examples=examples, progress=progress)
    progress.end()
    if json:
        say_json(report.to_json())
    else:
        say(report.text())
    if html is not None and first():
        _write(html, report)
    if strict and report.counts["problem"]:
        raise HeedfulError(f"{report.summary()}. --strict asks for no problems")


def _write(path: Path, report: "Report") -> None:
    from heedful.doctor.page import page

    try:
        path.write_text(page(report), encoding="utf-8", errors="replace")
    except OSError as error:
        raise HeedfulError(f"cannot write {path}: {error.strerror or error}") from error
    note(f"wrote {path}")

"""`heedful compare`: several presets on one problem, for the same budget."""

import json as jsons
from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.options import (
    DATA,
    Data,
    Device,
    Json,
    Plugins,
    ProblemName,
    Settings,
    load_plugins,
    seed_numbers,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import columns, note, say, say_json
from heedful.config import parse_settings

RUNS = Path("runs/compare")


def compare(
    problem: ProblemName,
    presets: Annotated[
        str, typer.Option("--presets", metavar="A,B", help="What to compare: names, with commas.")
    ],
    budget: Annotated[
        str,
        typer.Option("--budget", help="For each: steps:N, tokens:N, seconds:N or flops:N."),
    ] = "steps:1000",
    seeds: Annotated[str, typer.Option("--seeds", metavar="1,2", help="Each trained anew.")] = "1",
    split: Annotated[str, typer.Option("--split", help="What is scored at the end.")] = "test",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Without it: runs/compare/PROBLEM."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Train anew what is trained already.")
    ] = False,
    settings: Settings = None,
    device: Device = "auto",
    data: Data = DATA,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Train several presets on the same data for the same budget, and lay them side by side.

    Asked again, what is trained is used and what was cut short goes on. DIR holds the runs,
    compare.json and the page report.html: scores with spread, speed, parameters, curves, samples.

    \b
    Example:
      heedful compare translate_demo_en_fr --presets transformer_demo,transformer_tiny --seeds 1,2
      heedful compare algorithmic_sort_problem --presets transformer_tiny --budget tokens:100000
    """
    load_plugins(plugin)
    from heedful.claims.base import Context
    from heedful.compare.contest import Contest
    from heedful.compare.contest import compare as run
    from heedful.compare.page import comparison_page
    from heedful.compare.spending import Spending
    from heedful.runs.durable import write_file

    contest = Contest(
        problem=problem,
        presets=_names(presets),
        seeds=seed_numbers(seeds),
        budget=Spending.parse(budget),
        split=split,
        settings=parse_settings(settings or ()),
    )
    folder = out or RUNS / problem
    progress = Progress()
    context = Context(
        device=device, data=Path(data), runs=folder, fresh=fresh, note=note, progress=progress
    )
    report = run(contest, context)
    progress.end()
    write_file(folder / "compare.json", jsons.dumps(report, indent=1, ensure_ascii=False) + "\n")
    write_file(folder / "report.html", comparison_page(report))
    if json:
        say_json(report)
    else:
        say(told(report))
    note(f"the page is {folder / 'report.html'}")


def told(report: dict[str, Any]) -> str:
    """The scores as a table."""
    from heedful.viz.numbers import spread

    names = [n for n in report["rows"][0]["metrics"] if n != "seconds"]
    rows = [("preset", "parameters", "steps", *names)]
    for row in report["rows"]:
        found = (spread(row["metrics"][name]) for name in names)
        rows.append((row["preset"], f"{row['parameters']:,}", f"{row['steps']:,}", *found))
    return columns(rows)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())

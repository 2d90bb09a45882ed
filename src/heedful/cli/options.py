"""Options that several commands share, each written once."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.config import parse_settings, vary
from heedful.decoding import job
from heedful.errors import UsageError
from heedful.registry import load_plugin, problems

AnyProblem = Annotated[
    str | None, typer.Argument(metavar="PROBLEM", help="See: heedful list problems.")
]
ProblemName = Annotated[str, typer.Argument(metavar="PROBLEM", help="See: heedful list problems.")]
PresetName = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="See: heedful list presets.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change one field, e.g. --set model.dim=256. May be given several times.",
    ),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        help="Import a module first, for the problems, models and presets it registers.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for a script.")]
Data = Annotated[
    Path,
    typer.Option(
        "--data", metavar="DIR", envvar="HEEDFUL_DATA", help="Where prepared data is kept."
    ),
]
Device = Annotated[
    str, typer.Option("--device", help="auto (a GPU where there is one), cpu, cuda or cuda:N.")
]
Precision = Annotated[
    job.Precision,
    typer.Option(
        "--precision",
        help="Of products: auto is bf16 on a CPU that has it; int8 is for CPUs with VNNI.",
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="NAME",
        help="latest, best, average or step-N. Without it: the best, else the latest.",
    ),
]

DATA = Path("data")


def load_plugins(modules: Iterable[str] | None) -> None:
    """Import what `--plugin` names. The folder one stands in may hold the module."""
    for module in modules or ():
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        load_plugin(module)


def problem_of(name: str, settings: Iterable[str]) -> Any:
    """The problem of this name, where `--set` may name nothing but the problem's fields."""
    of_problem, others = split_settings(parse_settings(settings))
    if others:
        raise UsageError(
            f"cannot set '{next(iter(others))}' here: only fields of the problem can be set, "
            "e.g. --set problem.seed=2. Fields of a preset are set when training"
        )
    return vary(problems.get(name)(), of_problem)


def split_settings(changes: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Changes to the problem (`problem.x`, without the prefix), and changes to the preset."""
    prefix = "problem."
    of_problem = {k.removeprefix(prefix): v for k, v in changes.items() if k.startswith(prefix)}
    return of_problem, {k: v for k, v in changes.items() if not k.startswith(prefix)}


def seed_numbers(text: str) -> tuple[int, ...]:
    """What `--seeds 1,2,3` names."""
    try:
        return tuple(int(seed) for seed in text.split(",") if seed.strip())
    except ValueError:
        raise UsageError(f"--seeds takes numbers, as in --seeds 1,2,3, got '{text}'") from None

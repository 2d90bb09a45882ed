"""What the commands of `heedful bench` share: options, and how they tell what was measured."""

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.screen import columns, note, say, say_json
from heedful.errors import UsageError

if TYPE_CHECKING:
    import torch

    from heedful.bench.rivals import Rival
    from heedful.bench.table import Bench

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Record the JSON, as in results/bench-train.json. Without it: only printed.",
    ),
]
Peers = Annotated[
    str | None,
    typer.Option("--peers", metavar="A,B", help="none, or names. Without it: all installed."),
]
Repeats = Annotated[
    int | None, typer.Option("--repeats", min=1, help="Measurements, of which the median is told.")
]
Warmup = Annotated[
    int | None, typer.Option("--warmup", min=0, help="Rounds before those that are measured.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of weights and data.")]
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Without it: transformer_base on a GPU, transformer_demo on a CPU.",
    ),
]


def told(
    made: "Bench",
    shown: Sequence[str],
    rivals: Sequence["Rival"],
    device: "torch.device",
    out: Path | None,
    json: bool,
) -> None:
    """Print what was measured, and record it where that was asked for."""
    from heedful.bench.table import cells
    from heedful.claims.circumstances import commit, hardware, versions
    from heedful.runs.durable import write_file

    known = {name: version for rival in rivals for name, version in rival.version().items()}
    said = made.to_json(hardware(device), {**versions(), **known}, commit())
    if json:
        say_json(said)
    else:
        say(f"{said['hardware']}; commit {said['commit']}")
        say(columns(cells(made.rows, shown)))
        for text in made.notes:
            say(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_file(out, dumps(said, indent=1, ensure_ascii=False) + "\n")
        note(f"recorded in {out}")


def words(text: str | None, usual: tuple[str, ...]) -> tuple[str, ...]:
    """What an option names with commas; the usual where it is not given."""
    if text is None:
        return usual
    return tuple(word.strip() for word in text.split(",") if word.strip())


def numbers(option: str, text: str) -> tuple[int, ...]:
    """The numbers that an option names with commas."""
    try:
        found = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise UsageError(f"{option} takes numbers of 1 or more, as in 4,1, got '{text}'")
    return found

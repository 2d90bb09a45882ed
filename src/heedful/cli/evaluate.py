"""`heedful evaluate`: a run's metrics on a split, and all that makes the numbers citable."""

from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.metrics import lines_of
from heedful.cli.options import (
    DATA,
    Checkpoint,
    Data,
    Device,
    Json,
    Plugins,
    Run,
    Settings,
    load_plugins,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import say, say_json, value, warn
from heedful.cli.search import Alpha, Beam, Greedy, decode_changes


def evaluate(
    run: Run,
    split: Annotated[
        str, typer.Option("--split", help="Which examples; see: heedful show PROBLEM.")
    ] = "test",
    checkpoint: Checkpoint = None,
    examples: Annotated[
        int,
        typer.Option("--examples", metavar="N", min=0, help="Decode only the first N; 0 for all."),
    ] = 0,
    beam: Beam = None,
    alpha: Alpha = None,
    greedy: Greedy = False,
    settings: Settings = None,
    device: Device = "auto",
    data: Data = DATA,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Score a run: decode a split, compare with its references.

    \b
    Example:
      heedful evaluate runs/demo --split test --beam 4
    """
    load_plugins(plugin)
    changes = decode_changes({"beam": beam, "alpha": alpha}, greedy, settings)
    from heedful.training import evaluation

    progress = Progress()
    result = evaluation.evaluate(
        run,
        Path(data),
        split=split,
        checkpoint=checkpoint,
        decode=changes,
        examples=examples,
        device=device,
        progress=progress,
        warn=warn,
    )
    progress.end()
    if json:
        say_json(result)
    else:
        say(report(str(run), result))


def report(run: str, result: dict[str, Any]) -> str:
    """An evaluation in lines: what was measured, the numbers, and what they depend on."""
    checkpoint, decode = result["checkpoint"], result["decode"]
    how = (
        f"beam {decode['beam']}, alpha {value(decode['alpha'])}" if decode["beam"] > 1 else "greedy"
    )
    return "\n".join(
        [
            f"{run}: {result['problem']}, split {result['split']}, {result['examples']:,} examples",
            lines_of(result["metrics"]),
            f"checkpoint {checkpoint['name']}, sha256 {checkpoint['sha256'][:16]}, "
            f"seed {result['seed']}, {how}",
        ]
    )

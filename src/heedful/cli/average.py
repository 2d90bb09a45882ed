"""`heedful average`: the mean of several checkpoints as one more."""

from typing import Annotated

import typer

from heedful.cli.options import Json, Plugins, Run, load_plugins
from heedful.cli.screen import say, say_json
from heedful.errors import UsageError


def average(
    run: Run,
    last: Annotated[
        int | None,
        typer.Option("--last", metavar="N", min=1, help="Average the last N checkpoints."),
    ] = None,
    steps: Annotated[
        str, typer.Option("--steps", metavar="A,B", help="Average the checkpoints of these steps.")
    ] = "",
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Average checkpoints of a run into RUN/checkpoints/average.

    \b
    Example:
      heedful average runs/base --last 5
    """
    if bool(last) == bool(steps):
        raise UsageError("average takes one of --last N and --steps A,B. Example: --last 5")
    load_plugins(plugin)
    from heedful.runs.averaging import average_checkpoints

    made = average_checkpoints(run, last=last or 0, steps=_numbers(steps))
    of = made.state()["average"]
    if json:
        say_json({"checkpoint": str(made.path), "steps": of, "sha256": made.sha256(made.weights)})
    else:
        say(f"{made.path}: the mean of {', '.join(f'step-{step}' for step in of)}")


def _numbers(steps: str) -> list[int]:
    try:
        return [
            int(step.strip().removeprefix("step-")) for step in steps.split(",") if step.strip()
        ]
    except ValueError:
        raise UsageError(
            f"--steps takes step numbers, got '{steps}'. Example: --steps 800,1000"
        ) from None

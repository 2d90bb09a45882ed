"""`heedful positions`: what tells a model where a token stands, as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Checkpoint
from heedful.cli.screen import note
from heedful.errors import UsageError, nearest

OUT = Path("positions.png")
KINDS = ("sinusoid", "sinusoid_t2t", "learned")


def positions(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="A run whose positions are drawn.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="sinusoid, sinusoid_t2t or learned (of a RUN).")
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", min=2, help="How many positions.")
    ] = None,
    dim: Annotated[int, typer.Option("--dim", min=2, help="How many channels.")] = 128,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="A .png or an .svg file.")
    ] = OUT,
    checkpoint: Checkpoint = None,
) -> None:
    """Draw positions: the sinusoids that a formula gives, or those that a run uses or has learnt.

    Above, the signal: a row a position, a column a channel. Below, how alike any two positions are.

    \b
    Example:
      heedful positions --kind sinusoid --out sinusoid.png
      heedful positions runs/own --out positions.svg
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"no kind '{kind}'.{nearest(kind, KINDS)} It can be: {', '.join(KINDS)}")
    from heedful.viz.figures import Panel, check_picture, signals

    check_picture(out)
    from heedful.seeing.places import learnt, likeness, signal

    if run is not None:
        named, found = learnt(run, length, checkpoint)
        if kind is not None and named.partition(":")[0] != kind:
            raise UsageError(f"{run} has positions of the kind {named}, not {kind}")
    else:
        named = kind or "sinusoid"
        found = signal(named, length or 100, dim)
    panels = [
        Panel(f"{named}: a row a position, a column a channel", (), (), found),
        Panel("how alike two positions are: cosine", (), (), likeness(found)),
    ]
    signals(out, panels)
    note(f"wrote {out}")

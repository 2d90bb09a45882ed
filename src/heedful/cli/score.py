"""`heedful score`: how close one file of lines is to another."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.metrics import lines_of
from heedful.cli.options import Json, Plugins, load_plugins
from heedful.cli.screen import say, say_json


def score(
    hyp: Annotated[
        Path, typer.Option("--hyp", metavar="FILE", help="What a model wrote, one text a line.")
    ],
    ref: Annotated[
        Path, typer.Option("--ref", metavar="FILE", help="What it should have written.")
    ],
    metrics: Annotated[
        str, typer.Option("--metrics", metavar="A,B", help="Which metrics, by name.")
    ] = "bleu,chrf,exact_match",
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Score lines against references: BLEU, chrF, exact match.

    \b
    Example:
      heedful score --hyp output.fr --ref reference.fr
    """
    load_plugins(plugin)
    from heedful.data.files import read_parallel
    from heedful.metrics.base import score as compute

    names = [name.strip() for name in metrics.split(",") if name.strip()]
    hypotheses, references = [], []
    for hypothesis, reference in read_parallel(hyp, ref):
        hypotheses.append(hypothesis)
        references.append(reference)
    scores = compute(hypotheses, references, names)
    if json:
        say_json({"hyp": str(hyp), "ref": str(ref), "examples": len(references), "metrics": scores})
    else:
        say(lines_of(scores))

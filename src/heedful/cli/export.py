"""`heedful export`: a run's model as another library loads it."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Checkpoint, Json, Plugins, Run, load_plugins
from heedful.cli.screen import say, say_json, warn


def export(
    run: Run,
    to: Annotated[str, typer.Option("--to", metavar="LIBRARY", help="huggingface or ctranslate2.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to write: new, or empty.")
    ],
    quantize: Annotated[
        str | None,
        typer.Option(
            "--quantize",
            metavar="TYPE",
            help="For ctranslate2: int8, int8_float16, int16, float16, bfloat16. "
            "Without it: float32.",
        ),
    ] = None,
    checkpoint: Checkpoint = None,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Write a Transformer and its tokenizer in the layout of another library.

    It is loaded there and compared with the run before the folder is put in place.

    \b
    Example:
      heedful export runs/demo --to huggingface --out exported/demo-hf
      heedful export runs/demo --to ctranslate2 --out exported/demo-ct2 --quantize int8
    """
    load_plugins(plugin)
    from heedful.interop.export import export as write

    made = write(run, to, out, checkpoint, quantize, warn)
    if made.without is not None:
        warn(
            f"the vocabulary is of {made.without}, which {to} has no tokenizer for: "
            "the model is exported without one"
        )
    if json:
        say_json(
            {
                "folder": str(made.path),
                "layout": made.layout,
                "checkpoint": made.checkpoint,
                "difference": made.difference,
                "tokenizer": made.without is None,
            }
        )
    else:
        say(
            f"{made.path}: {made.layout}, from {made.checkpoint['name']}. "
            f"Log-probabilities differ from the run's by at most {made.difference:.1g}"
        )

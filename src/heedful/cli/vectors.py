"""`heedful vectors`: the vectors of a run's words, written down or asked for neighbours."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Checkpoint, Json, Plugins, Run, load_plugins
from heedful.cli.screen import say, say_json, warn
from heedful.errors import UsageError


def vectors(
    run: Run,
    near: Annotated[
        list[str] | None,
        typer.Option(
            "--near", metavar="WORD", help="Show the words nearest to it. May be given again."
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", min=1, help="So many neighbours of each word.")
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write all of them in word2vec's text format."),
    ] = None,
    checkpoint: Checkpoint = None,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Show which words of a run are near each other, or write their vectors for other programs.

    Of a model with a source these are the source's words. Nearness is the cosine.

    \b
    Example:
      heedful vectors runs/words --near king --near paris
      heedful vectors runs/words --out vectors.txt
    """
    if not near and out is None:
        raise UsageError("say what to do with the vectors: --near WORD, or --out FILE")
    load_plugins(plugin)
    from heedful.interop.word_vectors import vectors_of, write_vectors

    found = vectors_of(run, checkpoint, warn)
    neighbours = {word: found.near(word, count) for word in near or ()}
    if out is not None:
        write_vectors(found, out)
    if json:
        say_json(
            {
                "words": len(found.words),
                "dim": found.vectors.shape[1],
                "near": {
                    word: [{"word": other, "cosine": cosine} for other, cosine in others]
                    for word, others in neighbours.items()
                },
                "file": None if out is None else str(out),
            }
        )
        return
    for word, others in neighbours.items():
        say(f"{word}: " + "  ".join(f"{other} {cosine:.2f}" for other, cosine in others))
    if out is not None:
        say(f"{out}: {len(found.words):,} words, vectors of {found.vectors.shape[1]}")

"""`heedful decode`: lines in, what the model makes of them out, in the same order."""

import json as jsons
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.interactive import converse
from heedful.cli.lines import one_line, reading, writing
from heedful.cli.options import (
    Checkpoint,
    Device,
    Plugins,
    Precision,
    Run,
    Settings,
    load_plugins,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import warn
from heedful.cli.search import (
    Alpha,
    Beam,
    Greedy,
    Nbest,
    Sample,
    Temperature,
    TopK,
    TopP,
    decode_changes,
)
from heedful.decoding.job import Job
from heedful.errors import HeedfulError, UsageError

if TYPE_CHECKING:
    from heedful.decoding.decoded import Decoded
    from heedful.decoding.translator import Translator


def decode(
    run: Run,
    input: Annotated[
        Path | None, typer.Option("-i", "--input", metavar="FILE", help="Without it: stdin.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Without it: stdout.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="TAG", help="The language to write, if it writes several."),
    ] = None,
    beam: Beam = None,
    alpha: Alpha = None,
    greedy: Greedy = False,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Of sampling: the same seed, the same draws.")
    ] = 0,
    nbest: Nbest = None,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="What every output must begin with.")
    ] = "",
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="A JSON object a line: all outputs, scores, tokens.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="After each output a tab and its score.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="One line at a time, at once.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if any line could not be decoded.")
    ] = False,
    processes: Annotated[
        int,
        typer.Option(
            "--processes", metavar="N", help="On a CPU: so many, with a share of the cores each."
        ),
    ] = 1,
    checkpoint: Checkpoint = None,
    device: Device = "auto",
    precision: Precision = "auto",
    settings: Settings = None,
    plugin: Plugins = None,
) -> None:
    """Decode text: one output line for each input line.

    A line that cannot be decoded is named on stderr and gives an empty line; the rest go on.

    \b
    Example:
      echo "I like the green cat." | heedful decode runs/demo
      heedful decode runs/base -i test.en -o test.de --beam 4 --alpha 0.6
      heedful decode runs/many -i test.en -o test.fr --to fr
      heedful decode runs/base -i test.en -o test.de --processes 2
    """
    if processes < 1:
        raise UsageError(f"--processes must be 1 or more, got {processes}")
    if processes > 1 and interactive:
        raise UsageError("--interactive is for one line at a time, which one process decodes")
    if nbest is not None and nbest > 1 and not jsonl:
        raise UsageError(f"--nbest {nbest} gives several outputs a line: add --jsonl")
    load_plugins(plugin)
    given = {
        "beam": beam,
        "alpha": alpha,
        "sample": sample or None,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "nbest": nbest,
    }
    changes = decode_changes(given, greedy, settings)
    job = Job(
        run=str(run),
        checkpoint=checkpoint,
        device=device,
        precision=precision,
        changes=changes,
        to=to,
        plugins=tuple(plugin or ()),
    )
    if interactive:
        converse(_translator(job))
        return
    failed = total = 0
    progress = Progress()
    with (
        _decoding(job, processes) as decode_stream,
        reading(input) as lines,
        writing(output) as write,
    ):
        texts, again = tee(lines)  # no further apart than the window that is decoded at once
        stream = decode_stream(again, prefix=prefix, seed=seed)
        for total, (text, decoded) in enumerate(zip(texts, stream, strict=True), start=1):
            if decoded.error is not None:
                failed += 1
                warn(f"line {total}: {decoded.error}")
            write(_record(total, text, decoded) if jsonl else _text(decoded, scores))
            if output is not None:
                progress(total, "decoding")
    progress.end()
    if strict and failed:
        raise HeedfulError(f"{failed} of {total} lines could not be decoded; they are named above")


@contextmanager
def _decoding(job: Job, processes: int) -> "Iterator[Callable[..., Iterator[Decoded]]]":
    """What decodes a stream of lines: a translator, or several processes that have one each."""
    if processes == 1:
        yield _translator(job).decode_stream
        return
    from heedful.decoding.hands import Hands

    hands = Hands(job, processes, warn)
    try:
        yield hands.decode_stream
    finally:
        hands.close()


def _translator(job: Job) -> "Translator":
    from heedful.decoding.of_run import translator_of
    from heedful.distributed.processes import pick_device

    translator = translator_of(job, pick_device(job.device), warn)
    translator.language()  # what is wrong with it is said before anything is read
    return translator


def _text(decoded: "Decoded", scores: bool) -> str:
    text = one_line(decoded.text)
    if not scores:
        return text
    return f"{text}\t{'' if decoded.score is None else f'{decoded.score:.6f}'}"


def _record(number: int, text: str, decoded: "Decoded") -> str:
    record: dict[str, Any] = {
        "line": number,
        "input": text,
        "output": decoded.text,
        "score": decoded.score,
        "hypotheses": [
            {
                "text": one.text,
                "score": one.score,
                "finished": one.finished,
                "tokens": one.pieces,
                "token_scores": one.token_scores,
            }
            for one in decoded.hypotheses
        ],
    }
    if decoded.error is not None:
        record["error"] = decoded.error
    return jsons.dumps(record, ensure_ascii=False)

"""`heedful reproduce`: a paper's claim, measured here and written down."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from heedful.cli.options import DATA, Data, Device, Json, Plugins, load_plugins, seed_numbers
from heedful.cli.progress import Progress
from heedful.cli.screen import columns, note, say, say_json
from heedful.errors import UsageError

RESULTS = Path("results")
PAGE = "RESULTS.md"  # beside the folder of the records


def reproduce(
    claim: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM...", help="See: heedful list claims.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every claim, one after the other.")] = False,
    budget: Annotated[
        Literal["full", "smoke"],
        typer.Option(
            "--budget",
            help="full measures; smoke only tries the code, in seconds on a CPU.",
        ),
    ] = "full",
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="A,B", help="Instead of the claim's own seeds.")
    ] = "",
    only: Annotated[
        str,
        typer.Option(
            "--only", metavar="ARM,ARM", help="Train and score just these arms; no record."
        ),
    ] = "",
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            help="Train so many arms at once, each in a process of its own.",
        ),
    ] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Train anew what is trained already.")
    ] = False,
    write_results: Annotated[
        bool, typer.Option("--write-results", help=f"Write {PAGE} from all records that are there.")
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder for records.")
    ] = RESULTS,
    device: Device = "auto",
    data: Data = DATA,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Measure what a paper claims: train, score, compare with the figure to reach.

    Runs stay in runs/reproduce/CLAIM; asked again, what is trained is used and what was cut short
    goes on. The record is written to results/CLAIM.json, reached or not. With --only, several
    processes may train the arms of one claim before it is asked for as a whole; --jobs starts
    them by itself. What each says is beside its run; claims about speed are measured alone.

    \b
    Example:
      heedful reproduce transformer_reverse
      heedful reproduce --all --budget smoke
      heedful reproduce gnmt_depth attention_scores --jobs 8
      heedful reproduce transformer_tatoeba --only de_en,peer_de_en --seeds 1
      heedful reproduce --write-results
    """
    asked = claim or []
    if bool(asked) == all_ and not (write_results and not asked and not all_):
        raise UsageError(
            "reproduce takes a CLAIM (see: heedful list claims), or --all, or --write-results"
        )
    arms = tuple(arm.strip() for arm in only.split(",") if arm.strip())
    if only and (len(asked) != 1 or not arms):
        raise UsageError("--only takes arms of one CLAIM, as in: CLAIM --only ours,theirs")
    if jobs > 1 and (arms or budget == "smoke"):
        raise UsageError("--jobs goes with whole claims and the full budget only")
    load_plugins(plugin)
    from heedful.claims.base import Context, claims
    from heedful.claims.parallel import at_once
    from heedful.claims.report import report
    from heedful.claims.runner import RUNS, in_turn, reproduce_part
    from heedful.runs.durable import write_file
    from heedful.viz.numbers import spread

    names = claims.names() if all_ else list(dict.fromkeys(asked))
    for wanted in names:
        claims.get(wanted)  # a wrong name is said first
    progress = Progress()
    context = Context(
        budget=budget,
        seeds=seed_numbers(seeds),
        only=arms,
        device=device,
        data=Path(data),
        runs=RUNS,
        fresh=fresh,
        note=note,
        progress=progress,
    )
    if arms:
        measured = reproduce_part(asked[0], context)
        progress.end()
        part = {key: number.to_json() for key, number in measured.numbers.items()}
        if json:
            say_json({"claim": asked[0], "only": list(arms), "measured": part})
        else:
            say(columns([(key, spread(number)) for key, number in part.items()]))
        names = []
    plugged = (word for module in plugin or () for word in ("--plugin", module))
    options = ("--device", device, "--data", str(data), *plugged)
    made = []
    for record, path in (
        at_once(names, context, out, jobs, options) if jobs > 1 else in_turn(names, context, out)
    ):
        progress.end()
        made.append(record)
        if not json:
            say(told(record, path))
    if json and names:
        say_json(made[0] if len(asked) == 1 else made)
    if write_results:
        page = out.parent / PAGE
        write_file(page, report(out))
        note(f"wrote {page}")


def told(record: dict[str, Any], path: Path) -> str:
    """A record in lines: paper, baseline, ours, and whether it was reached."""
    from heedful.claims.report import summary

    cells = summary(record)
    rows = list(zip(("claim", "paper", "baseline", "ours", "reached"), cells, strict=True))
    if record["reason"]:
        rows.append(("why", record["reason"]))
    rows += [("note", text) for text in record["notes"]]
    return columns([*rows, ("record", str(path))])

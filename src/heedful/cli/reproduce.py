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
    name: Annotated[
        str | None, typer.Argument(metavar="CLAIM", help="See: heedful list claims.")
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
    processes may train the arms of one claim before it is asked for as a whole.

    \b
    Example:
      heedful reproduce transformer_reverse
      heedful reproduce --all --budget smoke
      heedful reproduce transformer_tatoeba --only de_en,peer_de_en --seeds 1
      heedful reproduce --write-results
    """
    if sum((name is not None, all_)) != 1 and not (write_results and name is None and not all_):
        raise UsageError(
            "reproduce takes a CLAIM (see: heedful list claims), or --all, or --write-results"
        )
    arms = tuple(arm.strip() for arm in only.split(",") if arm.strip())
    if only and (name is None or not arms):
        raise UsageError("--only takes arms of one CLAIM, as in: CLAIM --only ours,theirs")
    load_plugins(plugin)
    from heedful.claims.base import Context, claims
    from heedful.claims.report import report
    from heedful.claims.runner import RUNS, reproduce_part
    from heedful.claims.runner import reproduce as measure
    from heedful.runs.durable import write_file
    from heedful.viz.numbers import spread

    names = claims.names() if all_ else [name] if name is not None else []
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
    if arms and name is not None:
        measured = reproduce_part(name, context)
        progress.end()
        part = {key: number.to_json() for key, number in measured.numbers.items()}
        if json:
            say_json({"claim": name, "only": list(arms), "measured": part})
        else:
            say(columns([(key, spread(number)) for key, number in part.items()]))
        names = []
    made = []
    for wanted in names:
        note(f"{wanted}, budget {budget}")
        record, path = measure(wanted, context, out)
        progress.end()
        made.append(record)
        if not json:
            say(told(record, path))
    if json and names:
        say_json(made if all_ else made[0])
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

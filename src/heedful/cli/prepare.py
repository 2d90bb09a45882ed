"""`heedful prepare`: a problem's vocabularies and shards, made once."""

from pathlib import Path

from heedful.cli.options import (
    DATA,
    Data,
    Json,
    Plugins,
    ProblemName,
    Settings,
    load_plugins,
    problem_of,
)
from heedful.cli.progress import Progress
from heedful.cli.screen import columns, say, say_json


def prepare(
    problem: ProblemName,
    data: Data = DATA,
    settings: Settings = None,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Make a problem's data, vocabulary and all.

    Training does this by itself when needed. What is already there is not made again.

    \b
    Example:
      heedful prepare algorithmic_reverse_binary40 --set problem.train_examples=1000
    """
    load_plugins(plugin)
    made = problem_of(problem, settings or ())
    from heedful.data import preparation

    progress = Progress()
    prepared = preparation.prepare(problem, made, Path(data), progress)
    progress.end()
    info = prepared.info
    if json:
        parts = {name: info[name] for name in ("vocabularies", "splits")}
        say_json({"problem": problem, "folder": str(prepared.folder), **parts})
        return
    say(str(prepared.folder))
    rows = [("split", "examples", "tokens", "longest", "left out as empty")]
    for name, split in info["splits"].items():
        tokens, longest = sum(split["tokens"].values()), max(split["longest"].values())
        numbers = (split["examples"], tokens, longest, split["empty"])
        rows.append((name, *(f"{number:,}" for number in numbers)))
    say(columns(rows, indent="  "))
    for name, size in info["vocabularies"].items():
        say(f"  vocabulary '{name}': {size:,} ids")

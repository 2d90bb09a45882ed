"""The options that name your own files, and what they make of the problem `own_files`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from heedful.cli.screen import first, note
from heedful.errors import UsageError

OWN_FILES = "own_files"
MULTILINGUAL = "multilingual_files"
PRESET = "transformer_base_single_gpu"  # if none is named
SMALL_PRESET = "transformer_small"
FEW_PAIRS = 200_000  # below this, the smaller preset is worth a word

Files = list[str] | None


def _files(option: str, help_: str) -> Any:
    return typer.Option(option, metavar="FILE", help=help_)


Source = Annotated[
    Files, _files("--source", "Your own text, one sentence a line. May be given several times.")
]
Target = Annotated[Files, _files("--target", "Its translation, line by line: one for each source.")]
Pairs = Annotated[
    Files, _files("--pairs", "Both sides in one file: columns between tabs, or .jsonl.")
]
Fields = Annotated[
    str | None,
    typer.Option(
        "--fields",
        "--columns",
        metavar="A,B",
        help="Source and target in files of pairs: keys, numbers of columns or their names.",
    ),
]
To = Annotated[
    Files,
    typer.Option(
        "--to",
        metavar="TAG",
        help="The target's language, one for each pair: a model that writes several.",
    ),
]
ValidSource = Annotated[
    Files, _files("--valid-source", "To validate on. Without it, lines of the source are held out.")
]
ValidTarget = Annotated[Files, _files("--valid-target", "Its translation.")]
ValidPairs = Annotated[Files, _files("--valid-pairs", "Or both sides in one file.")]
TestSource = Annotated[
    Files, _files("--test-source", "To test on. Without it, lines of the source are held out.")
]
TestTarget = Annotated[Files, _files("--test-target", "Its translation.")]
TestPairs = Annotated[Files, _files("--test-pairs", "Or both sides in one file.")]


def changes(options: Mapping[str, Sequence[str] | str | None]) -> dict[str, Any]:
    """The problem's fields that these options set: those that were given."""
    given = {name: value for name, value in options.items() if value}
    for prefix in ("", "valid_", "test_"):
        counts = {side: len(given.get(prefix + side, ())) for side in ("source", "target")}
        if len(set(counts.values())) == 1:
            continue
        option = {side: "--" + (prefix + side).replace("_", "-") for side in counts}
        for side, count in counts.items():
            if not count:
                raise UsageError(f"your own files come in pairs: {option[side]} FILE is missing")
        raise UsageError(
            f"{option['source']} names {counts['source']} files and {option['target']} "
            f"{counts['target']}: they come in pairs, in the same order"
        )
    return given


def problem_for(files: Mapping[str, Any], problem: str | None) -> str | None:
    """The problem that these files make; the one named, if there are none."""
    if not files:
        return problem
    own = MULTILINGUAL if "to" in files else OWN_FILES
    if own == MULTILINGUAL and not {"source", "pairs"} & set(files):
        raise UsageError(
            "--to says into which language your own files go: --source FILE --target FILE, or "
            "--pairs FILE, is missing"
        )
    _check_problem(problem, own)
    return own


def _check_problem(problem: str | None, own: str) -> None:
    """An error if another problem is named beside the files."""
    if problem in (None, own, OWN_FILES):
        return
    if Path(problem).exists():
        raise UsageError(
            f"{problem} has no option before it. Each file has its own: --source a.en --source b.en"
        )
    raise UsageError(
        f"--source, --target and --pairs are the problem, so '{problem}' cannot be: leave one of "
        "them out"
    )


def check_files(problem: Any, preset_named: bool) -> None:
    """Look at the files before anything is made of them; a word if they are few for the preset."""
    from heedful.problems.multilingual_files import MultilingualFiles
    from heedful.problems.own_files import OwnFiles

    if not (isinstance(problem, OwnFiles | MultilingualFiles) and first()):
        return
    problem.check()
    if preset_named:
        return
    pairs = problem.lines(most=FEW_PAIRS)
    if pairs < FEW_PAIRS:
        note(
            f"{pairs:,} pairs are few for {PRESET}: a smaller model may do better, and is faster: "
            f"--preset {SMALL_PRESET}"
        )

"""The options that name your own texts with labels, and what they make of `labelled_files`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.screen import first
from heedful.errors import UsageError

if TYPE_CHECKING:
    from heedful.runs.config import RunConfig

LABELLED = "labelled_files"
PRESET, PAIR_PRESET = "text_classifier_base", "pair_classifier_base"  # if none is named
WITH_ELMO = {PRESET: "elmo_classifier", PAIR_PRESET: "elmo_pair_classifier"}

Files = list[str] | None


def _files(option: str, help_: str) -> Any:
    return typer.Option(option, metavar="FILE", help=help_)


TextFiles = Annotated[
    Files, _files("--text", "Texts with labels: columns between tabs. May be given several times.")
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        "--text-column",
        metavar="A[,B]",
        help="The text's column, or those of two texts: numbers, or names in the first line.",
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option("--label-column", metavar="C", help="The label's column. Without it: the second."),
]
ValidText = Annotated[
    Files, _files("--valid-text", "To validate on. Without it, lines are held out.")
]
TestText = Annotated[Files, _files("--test-text", "To test on. Without it, lines are held out.")]


def changes(options: Mapping[str, Sequence[str] | str | None]) -> dict[str, Any]:
    """The problem's fields that these options set: those that were given."""
    given = {name: value for name, value in options.items() if value}
    if given and "train" not in given:
        raise UsageError("--text FILE is missing: the texts to learn from, with their labels")
    return given


def problem_for(files: Mapping[str, Any], others: Mapping[str, Any], problem: str | None) -> str:
    """The problem that these files make; an error if another one is asked for beside them."""
    if others:
        raise UsageError(
            "--text is for texts with labels, --source, --target and --pairs are for translation: "
            "leave one of them out"
        )
    if problem not in (None, LABELLED):
        raise UsageError(f"--text is the problem, so '{problem}' cannot be: leave one of them out")
    return LABELLED


def preset_for(files: Mapping[str, Any], base: "RunConfig | None") -> str:
    """The classifier that is trained if none is named."""
    two = len(str(files.get("columns", "")).split(",")) == 2
    usual = PAIR_PRESET if two else PRESET
    if base is None:
        return usual
    if base.preset.model.kind == "elmo":
        return WITH_ELMO[usual]
    return base.preset_name


def check_files(problem: Any) -> None:
    """Look at the files before anything is made of them."""
    from heedful.problems.classification_files import LabelledFiles

    if isinstance(problem, LabelledFiles) and first():
        problem.check()

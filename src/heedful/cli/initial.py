"""`--init RUN`: a new run that begins from the weights, and with the vocabulary, of another."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.errors import UsageError
from heedful.registry import problems

if TYPE_CHECKING:
    from heedful.runs.config import RunConfig

Init = Annotated[
    Path | None,
    typer.Option("--init", metavar="RUN", help="Begin from the weights of another run."),
]


def base_of(run: Path, resume: bool) -> "RunConfig":
    """The config of the run to begin from."""
    from heedful.runs.folder import RunFolder

    if resume:
        raise UsageError("--init is for the beginning of a run, and --resume goes on with one")
    return RunFolder.open(run).config()


def vocabulary_of(run: Path, problem: str) -> dict[str, Any]:
    """The field of the problem that takes the run's vocabulary over, if it has such a field. Labels
    are none: every problem has its own."""
    from heedful.runs.folder import RunFolder
    from heedful.text.labels import LabelTokenizer
    from heedful.text.vocabulary import Vocabulary

    made = problems.get(problem)()
    if not any(field.name == "text" for field in dataclasses.fields(made)):
        return {}
    folder = RunFolder.open(run)
    cut = folder.tokenizers()
    files = sorted(
        {
            file
            for feature, file in folder.vocabularies().items()
            if not isinstance(cut[feature], LabelTokenizer)
        }
    )
    if len(files) > 1:
        raise UsageError(
            f"{run} has a vocabulary for each side ({', '.join(f.name for f in files)}), and "
            f"'{problem}' takes one. Begin from a run with a shared vocabulary"
        )
    return {"text": Vocabulary(path=str(files[0]))}

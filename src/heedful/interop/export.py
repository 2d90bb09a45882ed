"""From a run folder to a folder that another library loads."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from heedful.errors import HeedfulError, UsageError, nearest
from heedful.interop import ctranslate2, huggingface
from heedful.interop.pages import untokenized
from heedful.interop.parity import CLOSE, Pair, distance, log_probabilities, made_up
from heedful.models.base import Model
from heedful.presets.base import Decode
from heedful.runs import durable
from heedful.runs.loading import load_model
from heedful.text.base import Tokenizer


class Library(Protocol):
    """What each of the other libraries' files has."""

    def write(
        self,
        model: Model,
        tokenizers: Mapping[str, Tokenizer],
        decode: Decode,
        folder: Path,
        quantize: str | None = None,
    ) -> str: ...

    def log_probabilities(
        self, folder: Path, pairs: Sequence[Pair], tokenizers: Mapping[str, Tokenizer]
    ) -> list[Tensor]: ...


LIBRARIES: dict[str, Library] = {"huggingface": huggingface, "ctranslate2": ctranslate2}


@dataclass(frozen=True)
class Exported:
    """What was written, and how near to the run's own model it is."""

    path: Path
    layout: str  # what the library calls it
    checkpoint: dict[str, Any]
    difference: float  # of a token's log-probability, the largest over some made-up pairs
    without: str | None  # the kind of vocabulary that has no tokenizer there; None if all have


def export(
    run: Path,
    to: str,
    out: Path,
    checkpoint: str | None = None,
    quantize: str | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Exported:
    """Write a run's model for another library. It is loaded there and compared before it is put in
    place, so what is at `out` afterwards is whole and says what the run says."""
    if to not in LIBRARIES:
        raise UsageError(
            f"cannot export to '{to}'.{nearest(to, LIBRARIES)} There are: {', '.join(LIBRARIES)}"
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already and not an empty folder. Choose another --out")
    library = LIBRARIES[to]
    loaded = load_model(run, checkpoint, "cpu", warn)
    model, tokenizers = loaded.model, loaded.tokenizers
    beside = durable.begin_folder(out.absolute())
    try:
        layout = library.write(model, tokenizers, loaded.config.preset.decode, beside, quantize)
        pairs = made_up(model)
        theirs = library.log_probabilities(beside, pairs, tokenizers)
        difference = distance(log_probabilities(model, pairs), theirs)
        if quantize is None and not difference <= CLOSE:
            raise HeedfulError(
                f"what {to} makes of {run} is not the same model: log-probabilities differ by up "
                f"to {difference:.3g}. Nothing was written; please report it"
            )
        durable.place_folder(beside, out.absolute())
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return Exported(out, layout, loaded.checkpoint, difference, untokenized(tokenizers))

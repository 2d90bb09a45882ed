"""The runs that a server has, by name. A run folder is data: nothing in it is executed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from heedful.config import vary
from heedful.decoding.job import Precision
from heedful.decoding.ready import make_ready
from heedful.decoding.translator import Translator
from heedful.distributed.processes import pick_device
from heedful.errors import UsageError
from heedful.models.skip_gram import SkipGram
from heedful.nn.aside import aside
from heedful.runs.loading import Loaded, load_model
from heedful.serve.tasks import Task, task
from heedful.text.music import MusicTokenizer
from heedful.text.pictures import PictureTokenizer
from heedful.text.tagged import TaggedTokenizer
from heedful.text.two_texts import TwoTextsTokenizer


@dataclass(frozen=True)
class Served:
    """A model that is loaded, and what it is called."""

    name: str
    translator: Translator
    checkpoint: str
    sha256: str

    def __post_init__(self) -> None:
        """What a model of pictures or of music reads may be the name of a file: no request may
        name any here. And a model must have something to say."""
        if isinstance(self.translator.model, SkipGram):
            raise UsageError(
                f"'{self.name}' has vectors of words and writes no text: it cannot be served. Use "
                "heedful vectors"
            )
        if any(isinstance(one, MusicTokenizer) for one in self.translator.tokenizers.values()):
            raise UsageError(
                f"'{self.name}' reads music from files, and a request must not reach the files of "
                "this machine: it cannot be served. Use heedful compose"
            )
        if isinstance(self.translator.tokenizers.get("inputs"), PictureTokenizer):
            raise UsageError(
                f"'{self.name}' reads pictures from files, and a request must not reach the files "
                "of this machine: it cannot be served. Use heedful decode"
            )

    @property
    def task(self) -> Task:
        """What it does with a text."""
        return task(self.translator.tokenizers)

    @property
    def texts(self) -> int:
        """How many it reads at a time: one, or two with a tab between."""
        return 2 if isinstance(self.translator.tokenizers.get("inputs"), TwoTextsTokenizer) else 1

    @property
    def languages(self) -> tuple[str, ...]:
        """Those it can be asked to write; none for a model that was trained to write one."""
        inputs = self.translator.tokenizers.get("inputs")
        return inputs.tags if isinstance(inputs, TaggedTokenizer) else ()


def load_runs(
    runs: Sequence[str],
    checkpoint: str | None,
    device: str,
    changes: Mapping[str, Any],
    warn: Callable[[str], None],
    precision: Precision = "auto",
) -> list[Served]:
    """Each run as `RUN` or `NAME=RUN`; without a name it is called as its folder is."""
    place = pick_device(device)
    found: dict[str, Served] = {}
    for run in runs:
        name, path = named(run)
        if name in found:
            raise UsageError(
                f"two runs would be called '{name}'. Give one another name: NAME={path}"
            )
        loaded = aside(partial(_loaded, path, checkpoint, place, warn, precision))
        config = vary(loaded.config.preset.decode, dict(changes))
        translator = Translator(loaded.model, loaded.tokenizers, config, place)
        info = loaded.checkpoint
        found[name] = Served(name, translator, info["name"], info["sha256"])
    return list(found.values())


def _loaded(
    path: Path,
    checkpoint: str | None,
    device: torch.device,
    warn: Callable[[str], None],
    precision: Precision,
) -> Loaded:
    """A run's model, ready to decode."""
    loaded = load_model(path, checkpoint, device, warn)
    make_ready(loaded.model, precision, device)
    return loaded


def named(run: str) -> tuple[str, Path]:
    """The name and the folder that `RUN` or `NAME=RUN` means."""
    name, sign, rest = run.partition("=")
    if not sign or Path(run).exists():
        return Path(run).resolve().name, Path(run)
    if not name:
        raise UsageError(f"'{run}' names no model. Write RUN or NAME=RUN")
    return name, Path(rest)

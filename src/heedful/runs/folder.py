"""A run folder: the whole model in one place, for training on and for decoding years later.

config.json                 what the run is, resolved and versioned
vocab/                      one file a vocabulary, and features.json: which feature uses which
checkpoints/step-1000/      weights, optimiser, state, manifest of checksums
data.json                   which prepared data it is trained on
log.jsonl, tensorboard/     what happened
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heedful.errors import HeedfulError, UsageError
from heedful.runs import durable
from heedful.runs.checkpoints import Checkpoints
from heedful.runs.config import NAME, RunConfig, read_config
from heedful.text.base import Tokenizer
from heedful.text.files import load

FEATURES = "features.json"
DATA = "data.json"
LOCK = ".lock"


class RunFolder:
    """One run on disk. `open` one that is there, or `create` a new one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.vocab = path / "vocab"
        self.log = path / "log.jsonl"
        self.tensorboard = path / "tensorboard"
        self.checkpoints = Checkpoints(path / "checkpoints")

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The run at `path`, or an error that says why there is none."""
        if not path.exists():
            raise HeedfulError(
                f"no run at {path}: there is no such folder. Train one: heedful train"
            )
        if not (path / NAME).is_file():
            raise HeedfulError(f"{path} is not a run folder: it has no {NAME}")
        return cls(path)

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """A new folder for a run, empty but for what a start that failed has left."""
        if (path / NAME).exists() and cls(path).begun:
            raise UsageError(
                f"{path} already holds a run. Go on with it: --resume. Or choose another --out"
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            foreign = [
                p.name
                for p in path.iterdir()
                if p.name not in (LOCK, NAME, DATA, "vocab", "checkpoints")
                and not p.name.startswith(durable.TEMPORARY)
            ]
            (path / "checkpoints").mkdir(exist_ok=True)
        except OSError as error:
            raise HeedfulError(f"cannot make a run folder at {path}: {error.strerror}") from error
        if foreign:
            raise UsageError(
                f"{path} is not empty ({', '.join(sorted(foreign)[:3])}) and not a run. "
                "Choose another --out"
            )
        return cls(path)

    @property
    def begun(self) -> bool:
        """Whether anything was done here that could be gone on with, or lost."""
        return self.log.exists() or bool(self.checkpoints.steps())

    def config(self) -> RunConfig:
        return read_config(self.path)

    def write_config(self, config: RunConfig) -> None:
        try:
            durable.write_file(self.path / NAME, config.write())
        except OSError as error:
            raise HeedfulError(f"could not write {self.path / NAME}: {error.strerror}") from error

    def write_vocabularies(self, config: RunConfig, tokenizer: Callable[[str], Tokenizer]) -> None:
        """Copy in what decoding needs of the prepared data: the vocabulary of every feature."""
        files = {
            name: f"{feature.vocabulary}.json" for name, feature in config.problem.features.items()
        }
        try:
            self.vocab.mkdir(exist_ok=True)
            for name, file in files.items():
                tokenizer(name).save(self.vocab / file)
            durable.write_file(self.vocab / FEATURES, json.dumps(files, indent=1) + "\n")
        except OSError as error:
            raise HeedfulError(f"could not write {self.vocab}: {error.strerror}") from error

    def vocabularies(self) -> dict[str, Path]:
        """The vocabulary file of each feature."""
        path = self.vocab / FEATURES
        try:
            files: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise HeedfulError(f"{path} cannot be read ({error}): the run is incomplete") from error
        return {feature: self.vocab / file for feature, file in files.items()}

    def tokenizers(self) -> dict[str, Tokenizer]:
        """By feature; features with one vocabulary share one tokenizer."""
        files = self.vocabularies()
        loaded = {file: load(file) for file in sorted(set(files.values()))}
        return {feature: loaded[file] for feature, file in files.items()}

    def write_data(self, origin: dict[str, str]) -> None:
        """Note which prepared data the run is trained on."""
        try:
            durable.write_file(self.path / DATA, json.dumps(origin, indent=1) + "\n")
        except OSError as error:
            raise HeedfulError(f"could not write {self.path / DATA}: {error.strerror}") from error

    def data(self) -> dict[str, str]:
        try:
            return dict(json.loads((self.path / DATA).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise HeedfulError(f"{self.path / DATA} cannot be read ({error})") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for writing; a second process that wants it is told who has it."""
        with open(self.path / LOCK, "a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.seek(0)
                holder = file.read().strip() or "unknown"
                raise HeedfulError(
                    f"{self.path} is in use: process {holder} is training there. "
                    "Wait for it, stop it, or choose another --out"
                ) from error
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield

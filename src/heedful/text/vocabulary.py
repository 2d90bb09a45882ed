"""A vocabulary that is there already: another run's, as it is or with further pieces."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import HeedfulError
from heedful.text.base import Text, Tokenizer
from heedful.text.extension import extend
from heedful.text.files import load


@dataclass(frozen=True)
class Vocabulary(Text, kind="vocabulary"):
    """Cut text as a vocabulary file says (`runs/base/vocab/shared.json`)."""

    path: str = ""
    extend: int = 0  # so many further pieces at most, learnt from the training text; bpe only
    digest: str = ""  # of the file's content, noted by itself: other content is another vocabulary

    def __post_init__(self) -> None:
        if not self.digest and self.path and Path(self.path).is_file():
            object.__setattr__(self, "digest", _digest(Path(self.path)))

    def train(self, texts: Iterable[str]) -> Tokenizer:
        if not self.path:
            raise HeedfulError(
                "text=vocabulary needs to know which: set its path, e.g. "
                "problem.text.path=runs/base/vocab/shared.json"
            )
        tokenizer = load(Path(self.path))
        if self.digest != _digest(Path(self.path)):
            raise HeedfulError(
                f"{self.path} is not the vocabulary that was asked for: its content has changed"
            )
        return extend(tokenizer, texts, self.extend) if self.extend else tokenizer


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]

"""Tags: one id for each language that a model can be asked to write, before the source's own.

Johnson et al., "Google's Multilingual Neural Machine Translation System", TACL 2017,
https://arxiv.org/abs/1611.04558, section 3. Departs from the paper: a tag is not a word that is put
into the text but an id beside it, so nothing that a user types can be taken for one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import HeedfulError, UsageError, nearest
from heedful.text.base import Text, Tokenizer

_TAG = re.compile(r"[A-Za-z0-9]+([_-][A-Za-z0-9]+)*")
_LONGEST = 32


class Addressed(str):
    """A text that says into which language it goes. A plain string, however it reads, does not."""

    to: str

    def __new__(cls, text: str, to: str) -> Self:
        made = super().__new__(cls, text)
        made.to = to
        return made


@dataclass(frozen=True)
class Tagged(Text):
    """Another way to cut text, and an id of its own for each of some languages.

    It has no name among the kinds of text: which languages there are is for a problem to say.
    """

    kind: ClassVar[str] = "tagged"

    text: Text
    tags: tuple[str, ...]

    def train(self, texts: Iterable[str]) -> "TaggedTokenizer":
        plain = self.text.train(texts)
        if isinstance(plain, TaggedTokenizer):  # of another run: its tags keep their ids
            more = [tag for tag in self.tags if tag not in plain.tags]
            return TaggedTokenizer(plain.plain, (*plain.tags, *more))
        return TaggedTokenizer(plain, self.tags)


class TaggedTokenizer(Tokenizer):
    """The ids of another tokenizer, and after them one a tag.

    An `Addressed` text begins with its tag, and comes back addressed; a tag anywhere else says
    nothing. The file is the other tokenizer's, with the tags beside.
    """

    def __init__(self, plain: Tokenizer, tags: Iterable[str]) -> None:
        self.plain, self.tags = plain, tuple(tags)
        self.kind, self.lossless = plain.kind, plain.lossless  # type: ignore[misc]
        self.size = plain.size + len(self.tags)
        for tag in self.tags:
            check_tag(tag)
        if len(set(self.tags)) < len(self.tags):
            raise HeedfulError(f"a vocabulary has a tag twice: {', '.join(self.tags)}")

    def tag(self, to: str) -> int:
        """The id that stands for a language."""
        if to not in self.tags:
            raise UsageError(
                f"no tag for the language '{to}'.{nearest(to, self.tags)} This model can write: "
                f"{', '.join(self.tags)}"
            )
        return self.plain.size + self.tags.index(to)

    def encode(self, text: str) -> list[int]:
        return [*self._address(text), *self.plain.encode(text)]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        found = self.plain.encode_many(texts)
        return [[*self._address(text), *ids] for text, ids in zip(texts, found, strict=True)]

    def decode(self, ids: Iterable[int]) -> str:
        known = self._known(ids)
        text = self.plain.decode(i for i in known if i < self.plain.size)
        if known and known[0] >= self.plain.size:
            return Addressed(text, self.tags[known[0] - self.plain.size])
        return text

    def pieces(self, ids: Iterable[int]) -> list[str]:
        size = self.plain.size
        return [
            f"<2{self.tags[i - size]}>" if i >= size else self.plain.pieces([i])[0]
            for i in self._known(ids)
        ]

    def to_json(self) -> dict[str, Any]:
        return {**self.plain.to_json(), "tags": list(self.tags)}

    def _address(self, text: str) -> list[int]:
        return [self.tag(text.to)] if isinstance(text, Addressed) else []


def check_tag(tag: str) -> None:
    """An error if a language cannot be called so."""
    if not (isinstance(tag, str) and _TAG.fullmatch(tag) and len(tag) <= _LONGEST):
        raise UsageError(
            f"'{tag}' cannot be the tag of a language: a tag is letters and digits of ASCII, with "
            f"- or _ between them, {_LONGEST} at most, as in de, pt-BR or zh_Hans"
        )

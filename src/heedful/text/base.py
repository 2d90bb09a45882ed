"""Strings to ids and back. Knows nothing of torch."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from heedful.config import Choice
from heedful.errors import HeedfulError
from heedful.text.specials import EOS, PAD

FORMAT = 1  # of the JSON file of a vocabulary


class Tokenizer(ABC):
    """A finished vocabulary: text to ids and back. Ids begin with the special ones.

    A special id stands for no text: nothing that a user types is ever encoded as padding or end.
    """

    kind: ClassVar[str]  # the `kind` of the Text that made it, and of its file
    lossless: ClassVar[bool]  # whether decode(encode(text)) == text for every text there is
    size: int  # how many ids there are, the special ones counted
    tags: tuple[str, ...] = ()  # languages that a text can be addressed to; see text/tagged.py

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a text, without the end symbol."""

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text; the same as `encode` of one after the other, and often faster."""
        return [self.encode(text) for text in texts]

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text of these ids; padding and end symbols say nothing."""

    @abstractmethod
    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each id as a person would like to see it, one string an id."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What its file holds beside the kind: plain values, read back by text/files.py."""

    def save(self, path: Path) -> None:
        """Write it as one JSON file, which `load` of text/files.py reads."""
        data = {"format": FORMAT, "kind": self.kind, **self.to_json()}
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def _known(self, ids: Iterable[int]) -> list[int]:
        """The ids as plain numbers, each of them checked to be one of this vocabulary's."""
        known = [int(i) for i in ids]
        for i in known:
            if not 0 <= i < self.size:
                raise HeedfulError(
                    f"id {i} is not in this vocabulary, whose ids are 0 to {self.size - 1}. "
                    "Decode with the vocabulary that the ids were made with"
                )
        return known

    def _spoken(self, ids: Iterable[int]) -> list[int]:
        """The ids that stand for text: all but padding and end."""
        return [i for i in self._known(ids) if i not in (PAD, EOS)]


class Text(Choice, ABC):
    """How a text is to be cut into symbols: what a problem asks for before it has a vocabulary."""

    @abstractmethod
    def train(self, texts: Iterable[str]) -> Tokenizer:
        """Make the vocabulary from these texts (read once, streamed)."""


def utf8(text: str) -> bytes:
    """The text's bytes, or an error that says which character has none."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise HeedfulError(
            f"character {error.start + 1} of a text is half of a surrogate pair "
            f"(U+{ord(text[error.start]):04X}), which no UTF-8 text can hold. "
            "Read the text as UTF-8, or remove the character"
        ) from None


def usable(texts: Iterable[str]) -> Iterator[str]:
    """The texts as they come, each checked to be writable; an error if all of them are empty."""
    said_something = False
    for text in texts:
        utf8(text)
        said_something = said_something or bool(text)
        yield text
    if not said_something:
        raise HeedfulError(
            "there is no text to make a vocabulary from: the training texts are all empty. "
            "Check the files or the problem they come from"
        )


def readable(piece: bytes) -> str:
    """A piece of a text for a person to look at: bytes that are no whole character as `<E9>`."""
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"<{byte:02X}>" for byte in piece)
    return "".join(_seen(character) for character in text)


def _seen(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    return character if character.isprintable() else f"<{ord(character):02X}>"


_SIGNS = {"\n": "↵", "\t": "⇥"}

"""Text as its characters (Unicode code points), those that the training text has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.text.base import Text, Tokenizer, readable, usable, utf8
from heedful.text.specials import NAMES, RESERVED, UNK, UNKNOWN


@dataclass(frozen=True)
class Characters(Text, kind="characters"):
    """Each character of the training text is a symbol; any other is unknown."""

    def train(self, texts: Iterable[str]) -> "CharacterTokenizer":
        seen: set[str] = set()
        for text in usable(texts):
            seen.update(text)
        return CharacterTokenizer(sorted(seen))


class CharacterTokenizer(Tokenizer):
    """Ids of characters. Lossless for the characters it knows, and only for those."""

    kind: ClassVar[str] = "characters"
    lossless: ClassVar[bool] = False

    def __init__(self, characters: Iterable[str]) -> None:
        self.characters = list(characters)
        self.size = RESERVED + len(self.characters)
        self._ids = {character: i for i, character in enumerate(self.characters, RESERVED)}

    def encode(self, text: str) -> list[int]:
        utf8(text)
        return [self._ids.get(character, UNK) for character in text]

    def decode(self, ids: Iterable[int]) -> str:
        spoken = self._spoken(ids)
        return "".join(UNKNOWN if i == UNK else self.characters[i - RESERVED] for i in spoken)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [
            NAMES[i] if i < RESERVED else readable(utf8(self.characters[i - RESERVED]))
            for i in self._known(ids)
        ]

    def to_json(self) -> dict[str, Any]:
        return {"characters": self.characters}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["characters"])

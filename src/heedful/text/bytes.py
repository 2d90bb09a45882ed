"""Text as its UTF-8 bytes: 256 symbols for every language, and nothing to train."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.text.base import Text, Tokenizer, readable, utf8
from heedful.text.specials import NAMES, RESERVED, UNK, UNKNOWN


@dataclass(frozen=True)
class Bytes(Text, kind="bytes"):
    """The UTF-8 bytes of a text, each a symbol."""

    def train(self, texts: Iterable[str]) -> "ByteTokenizer":
        return ByteTokenizer()


class ByteTokenizer(Tokenizer):
    """Ids of bytes: the byte's value, after the special ids."""

    kind: ClassVar[str] = "bytes"
    lossless: ClassVar[bool] = True
    size = RESERVED + 256

    def encode(self, text: str) -> list[int]:
        return [byte + RESERVED for byte in utf8(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these bytes; what a model wrote that is no UTF-8 becomes U+FFFD."""
        unknown = UNKNOWN.encode()
        parts = (unknown if i == UNK else bytes([i - RESERVED]) for i in self._spoken(ids))
        return b"".join(parts).decode("utf-8", errors="replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        known = self._known(ids)
        return [NAMES[i] if i < RESERVED else readable(bytes([i - RESERVED])) for i in known]

    def to_json(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls()

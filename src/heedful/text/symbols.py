"""Numbers that stand for themselves: the digits and marks of the algorithmic problems."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import HeedfulError, UsageError
from heedful.text.base import Text, Tokenizer
from heedful.text.specials import NAMES, RESERVED, UNK, UNKNOWN


@dataclass(frozen=True)
class Symbols(Text, kind="symbols"):
    """The numbers 0 to size - 1, each a symbol; as text, "1 0 1 1"."""

    size: int = 10  # how many symbols, the special ids not counted

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"symbols need a size of at least 1, got {self.size}")

    def train(self, texts: Iterable[str]) -> "SymbolTokenizer":
        return SymbolTokenizer(self.size)


class SymbolTokenizer(Tokenizer):
    """Ids of symbols: the number itself, after the special ids."""

    kind: ClassVar[str] = "symbols"
    lossless: ClassVar[bool] = False  # only lists of its own symbols come back as they went in

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols
        self.size = RESERVED + symbols

    def encode(self, text: str | Sequence[int]) -> list[int]:
        """The ids of "1 0 1 1", or of the list [1, 0, 1, 1]."""
        symbols = text.split() if isinstance(text, str) else text
        return [self._number(symbol) + RESERVED for symbol in symbols]

    def decode(self, ids: Iterable[int]) -> str:
        return " ".join(UNKNOWN if i == UNK else str(i - RESERVED) for i in self._spoken(ids))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [NAMES[i] if i < RESERVED else str(i - RESERVED) for i in self._known(ids)]

    def to_json(self) -> dict[str, Any]:
        return {"symbols": self.symbols}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(int(data["symbols"]))

    def _number(self, symbol: str | int) -> int:
        try:
            number = int(symbol)
        except ValueError:
            number = -1
        if not 0 <= number < self.symbols:
            raise HeedfulError(
                f"'{symbol}' is not one of this problem's symbols, the numbers 0 to "
                f"{self.symbols - 1}. Write them with spaces between: 1 0 1 1"
            )
        return number

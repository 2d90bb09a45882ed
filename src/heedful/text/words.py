"""Text as words: whatever stands between white space, the most frequent first."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import UsageError
from heedful.text.base import Text, Tokenizer, usable, utf8
from heedful.text.specials import NAMES, RESERVED, UNK, UNKNOWN


@dataclass(frozen=True)
class Words(Text, kind="words"):
    """The most frequent words of the training text; any other is unknown."""

    size: int = 0  # how many ids at most, the special ones counted; 0 for every word there is

    def __post_init__(self) -> None:
        if self.size and self.size <= RESERVED:
            raise UsageError(
                f"a vocabulary of words needs a size of more than {RESERVED}, which are special, "
                f"got {self.size}. Use 0 for every word there is"
            )

    def train(self, texts: Iterable[str]) -> "WordTokenizer":
        counts: Counter[str] = Counter()
        for text in usable(texts):
            counts.update(text.split())
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        return WordTokenizer(ranked[: self.size - RESERVED] if self.size else ranked)


class WordTokenizer(Tokenizer):
    """Ids of words. Loses which white space stood between them, and words it does not know."""

    kind: ClassVar[str] = "words"
    lossless: ClassVar[bool] = False

    def __init__(self, words: Iterable[str]) -> None:
        self.words = list(words)
        self.size = RESERVED + len(self.words)
        self._ids = {word: i for i, word in enumerate(self.words, RESERVED)}

    def encode(self, text: str) -> list[int]:
        utf8(text)
        return [self._ids.get(word, UNK) for word in text.split()]

    def decode(self, ids: Iterable[int]) -> str:
        spoken = self._spoken(ids)
        return " ".join(UNKNOWN if i == UNK else self.words[i - RESERVED] for i in spoken)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [NAMES[i] if i < RESERVED else self.words[i - RESERVED] for i in self._known(ids)]

    def to_json(self) -> dict[str, Any]:
        return {"words": self.words}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["words"])

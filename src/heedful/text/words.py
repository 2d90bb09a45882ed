"""Text as words: whatever stands between white space, the most frequent first.

Where a text has several lines, each ends with the end symbol: the last one's is added by whoever
writes examples.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import UsageError
from heedful.text.base import Text, Tokenizer, usable, utf8
from heedful.text.specials import EOS, NAMES, RESERVED, UNK, UNKNOWN


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
        ends = 0
        for text in usable(texts):
            counts.update(text.split())
            ends += text.count("\n") + 1
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        known = ranked[: self.size - RESERVED] if self.size else ranked
        often = [counts[word] for word in known]
        return WordTokenizer(known, [0, ends, counts.total() - sum(often), *often])


class WordTokenizer(Tokenizer):
    """Ids of words. Loses which white space stood between them, and words it does not know."""

    kind: ClassVar[str] = "words"
    lossless: ClassVar[bool] = False

    def __init__(self, words: Iterable[str], counts: Iterable[int] | None = None) -> None:
        self.words = list(words)
        self.size = RESERVED + len(self.words)
        self.counts = None if counts is None else list(counts)  # of each id in the training text
        self._ids = {word: i for i, word in enumerate(self.words, RESERVED)}

    def encode(self, text: str) -> list[int]:
        utf8(text)
        if "\n" not in text:
            return [self._ids.get(word, UNK) for word in text.split()]
        lines = ([self._ids.get(word, UNK) for word in line.split()] for line in text.split("\n"))
        return [i for line in lines for i in (*line, EOS)][:-1]

    def decode(self, ids: Iterable[int]) -> str:
        spoken = self._spoken(ids)
        return " ".join(UNKNOWN if i == UNK else self.words[i - RESERVED] for i in spoken)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [NAMES[i] if i < RESERVED else self.words[i - RESERVED] for i in self._known(ids)]

    def to_json(self) -> dict[str, Any]:
        counted = {} if self.counts is None else {"counts": self.counts}
        return {"words": self.words, **counted}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["words"], data.get("counts"))

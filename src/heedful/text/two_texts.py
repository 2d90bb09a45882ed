"""Two texts as one: told apart by a tab in the text, and by an end symbol among the ids."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar

from heedful.errors import HeedfulError
from heedful.text.base import Text, Tokenizer
from heedful.text.specials import EOS
from heedful.text.subwords import Subwords

BETWEEN = "\t"


@dataclass(frozen=True)
class TwoTexts(Text, kind="two_texts"):
    """Another way to cut text, for two texts with a tab between."""

    text: Text = field(default_factory=Subwords)

    def train(self, texts: Iterable[str]) -> "TwoTextsTokenizer":
        plain = self.text.train(part for text in texts for part in text.split(BETWEEN))
        if isinstance(plain, TwoTextsTokenizer):  # of another run
            return plain
        return TwoTextsTokenizer(plain)


class TwoTextsTokenizer(Tokenizer):
    """The ids of another tokenizer, each text ended by the end symbol but the last.

    So a model sees where the second begins, and a vocabulary is the same for one text and for two.
    """

    kind: ClassVar[str] = "two_texts"

    def __init__(self, plain: Tokenizer) -> None:
        self.plain = plain
        self.lossless = plain.lossless  # type: ignore[misc]
        self.size = plain.size

    def encode(self, text: str) -> list[int]:
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        cut = [text.split(BETWEEN) for text in texts]
        for parts in cut:
            if len(parts) > 2:
                raise HeedfulError(
                    f"two texts have one tab between them, and '{parts[0][:40]}…' is the first of "
                    f"{len(parts)}. Write other tabs as spaces"
                )
        ids = iter(self.plain.encode_many([part for parts in cut for part in parts]))
        return [_joined([next(ids) for _ in parts]) for parts in cut]

    def decode(self, ids: Iterable[int]) -> str:
        parts = list(_apart(self._known(ids)))
        return BETWEEN.join(self.plain.decode(part) for part in parts)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return self.plain.pieces(ids)

    def to_json(self) -> dict[str, Any]:
        return {"plain": {"kind": self.plain.kind, **self.plain.to_json()}}


def _joined(parts: list[list[int]]) -> list[int]:
    ids = list(parts[0])
    for part in parts[1:]:
        ids += [EOS, *part]
    return ids


def _apart(ids: list[int]) -> Iterator[list[int]]:
    """What stands between end symbols."""
    for ends, part in groupby(ids, key=lambda i: i == EOS):
        if not ends:
            yield list(part)

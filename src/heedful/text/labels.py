"""Labels: one symbol a text, for saying what kind of text it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import HeedfulError, UsageError, nearest
from heedful.text.base import Text, Tokenizer, utf8
from heedful.text.specials import NAMES, RESERVED, UNK, UNKNOWN

MOST = 100_000  # labels; a column with more is hardly one of labels


@dataclass(frozen=True)
class Labels(Text, kind="labels"):
    """Each whole text is one label. Which there are is said, or found in the training texts."""

    names: tuple[str, ...] = ()  # all of them; none to take those of the training texts, sorted

    def __post_init__(self) -> None:
        _check(self.names)
        if len(self.names) == 1:
            raise UsageError(_one(self.names[0]))

    def train(self, texts: Iterable[str]) -> "LabelTokenizer":
        if self.names:
            return LabelTokenizer(self.names)
        found: set[str] = set()
        for text in texts:
            utf8(text)
            if text.strip():
                found.add(text.strip())
            if len(found) > MOST:
                raise HeedfulError(
                    f"the training texts have more than {MOST:,} different labels. Is another "
                    "column meant? Labels are few, and come again"
                )
        if not found:
            raise HeedfulError("no training text has a label: there is nothing to learn")
        if len(found) == 1:
            raise HeedfulError(_one(*found))
        return LabelTokenizer(sorted(found))


class LabelTokenizer(Tokenizer):
    """Ids of labels. A label that is not among them is an error, and never unknown."""

    kind: ClassVar[str] = "labels"
    lossless: ClassVar[bool] = False  # only its own labels come back

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels = tuple(labels)
        _check(self.labels)
        self.size = RESERVED + len(self.labels)
        self._ids = {label: i for i, label in enumerate(self.labels, RESERVED)}

    def encode(self, text: str) -> list[int]:
        """The id of a label; none for an empty one."""
        label = text.strip()
        if not label:
            return []
        if label not in self._ids:
            raise HeedfulError(
                f"'{label}' is not a label that is learnt.{nearest(label, self.labels)} There are: "
                f"{_few(self.labels)}. Mend the text, or name every label: problem.labels=…"
            )
        return [self._ids[label]]

    def decode(self, ids: Iterable[int]) -> str:
        spoken = self._spoken(ids)
        return " ".join(UNKNOWN if i == UNK else self.labels[i - RESERVED] for i in spoken)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [NAMES[i] if i < RESERVED else self.labels[i - RESERVED] for i in self._known(ids)]

    def to_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["labels"])


def _check(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name.strip() or name != name.strip():
            raise UsageError(f"'{name}' cannot be a label: it is empty or has spaces at an end")
        if name in seen:
            raise UsageError(f"the label '{name}' is named twice")
        seen.add(name)


def _one(label: str) -> str:
    return (
        f"'{label}' is the only label, so there is nothing to tell apart. A classifier needs two "
        "or more: check which column holds the labels"
    )


def _few(labels: tuple[str, ...]) -> str:
    more = f" and {len(labels) - 10:,} more" if len(labels) > 10 else ""
    return ", ".join(labels[:10]) + more

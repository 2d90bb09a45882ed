"""Saying what kind of text it is: a text, or two, and a label."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from heedful.problems.base import TEST, TRAIN, VALID, Feature, Problem
from heedful.text import bytes, chars, words  # noqa: F401  (so that problem.text can name them)
from heedful.text.base import Text
from heedful.text.labels import Labels
from heedful.text.subwords import Subwords
from heedful.text.two_texts import BETWEEN, TwoTexts


@dataclass(frozen=True, kw_only=True)
class Classification(Problem):
    """One label about a text, or about two."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "f1", "matthews")
    best_by: ClassVar[str] = "accuracy"

    text: Text = field(default_factory=Subwords)

    @property
    @abstractmethod
    def two(self) -> bool:
        """Whether there are two texts; between them stands a tab."""

    @property
    def names(self) -> tuple[str, ...]:
        """All labels; none where they are found in the training split."""
        return ()

    @property
    def features(self) -> dict[str, Feature]:
        return {
            "inputs": Feature(TwoTexts(self.text) if self.two else self.text, "text"),
            "targets": Feature(Labels(self.names), "labels"),
        }

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}


def joined(texts: tuple[str, ...]) -> str:
    """The texts of an example as one; nothing where any of them is empty, so that it is left out
    and counted."""
    if not all(text.strip() for text in texts):
        return ""
    return BETWEEN.join(text.replace(BETWEEN, " ") for text in texts)

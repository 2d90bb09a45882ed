"""Published corpora of translations."""

import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar

from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature
from heedful.problems.published import Published
from heedful.text import bytes, chars, words  # noqa: F401  (so that problem.text can name them)
from heedful.text.base import Text
from heedful.text.subwords import Subwords

Pairs = Iterator[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Corpus(Published):
    """Translation between two languages of a published corpus."""

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact_match")
    best_by: ClassVar[str] = "bleu"
    languages: ClassVar[tuple[str, ...]] = ()  # those it has
    hub: ClassVar[str | None] = None  # the one that every pair has a side in, if there is one

    source: str = "en"
    target: str = "de"
    text: Text = field(default_factory=lambda: Subwords(size=8_000))

    def __post_init__(self) -> None:
        sides = {self.source, self.target}
        known = sides <= set(self.languages) and len(sides) == 2
        if not known or (self.hub is not None and self.hub not in sides):
            hub = f", one of them {self.hub}" if self.hub else ""
            raise UsageError(
                f"{type(self).__name__} has no translations from '{self.source}' to "
                f"'{self.target}'. problem.source and problem.target are two of "
                f"{', '.join(self.languages)}{hub}"
            )

    @property
    def direction(self) -> tuple[str, str]:
        """The languages it is from and into."""
        return self.source, self.target

    @property
    def features(self) -> dict[str, Feature]:
        return {"inputs": Feature(self.text), "targets": Feature(self.text)}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    @abstractmethod
    def pairs(self, split: str, files: Mapping[str, Path]) -> Pairs:
        """Source and target of every example; `files` are the downloads by their names."""

    def both(self, read: Callable[[str], Iterator[str]], name: str) -> Pairs:
        """The two sides of what `name` names, each read by its language."""
        return aligned(read(self.source), read(self.target), name)

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        for source, target in self.pairs(split, files):
            yield {"inputs": source, "targets": target}


def aligned(sources: Iterator[str], targets: Iterator[str], name: str) -> Pairs:
    """Lines that belong together; an error if there are more on one side."""
    for number, (source, target) in enumerate(zip_longest(sources, targets), start=1):
        if source is None or target is None:
            side = "source" if source is None else "target"
            raise HeedfulError(
                f"{name} does not match: its {side} side ends before line {number:,}, the other "
                "goes on. Delete it and get it again"
            )
        yield source, target


def interleaved(streams: list[tuple[Pairs, float]]) -> Pairs:
    """Several corpora as one, spread evenly: each comes up in proportion to its weight.

    So the first part of it, which a vocabulary is learnt from, is like the whole.
    """
    place = [0.0] * len(streams)
    while streams:
        index = min(range(len(streams)), key=place.__getitem__)
        stream, weight = streams[index]
        pair = next(stream, None)
        if pair is None:
            del streams[index], place[index]
            continue
        place[index] += 1 / weight
        yield pair

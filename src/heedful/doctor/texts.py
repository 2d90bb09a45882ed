"""The texts of a split: all of them, or so many spread evenly over it, one at a time."""

import random
from collections.abc import Iterator
from itertools import islice

import numpy as np

from heedful.data.preparation import Prepared, as_text, source_of
from heedful.data.shards import Indices, Shards
from heedful.doctor.finding import Case
from heedful.problems.base import TRAIN, Example
from heedful.text.base import Tokenizer

SYMBOLS = "symbols"  # numbers that stand for themselves: no words, no letters
EMPTY_SEARCHED = 1_000_000  # raw examples that are looked through for empty ones to show

Texts = dict[str, str]


class Reader:
    """Gives the texts of prepared examples, by number from 0."""

    def __init__(self, prepared: Prepared, name: str) -> None:
        self.prepared, self.name = prepared, name
        self.tokenizers: dict[str, Tokenizer] = {
            feature: prepared.tokenizer(feature) for feature in prepared.features
        }
        self.textual = tuple(f for f, t in self.tokenizers.items() if t.kind != SYMBOLS)

    def sample(self, split: str, most: int) -> Iterator[tuple[int, Texts]]:
        """At most `most` examples (0 for all) with their numbers, in order.

        They are spread over the split; only where training text cannot be had back from its ids
        are they the problem's first.
        """
        shards = self.prepared.split(split)
        chosen = evenly(len(shards), most or len(shards))
        if split == TRAIN and not all(t.lossless for t in self.tokenizers.values()):
            yield from enumerate(islice(self._full(), len(chosen)))
            return
        for index in chosen.tolist():
            yield index, self.texts(shards, index)

    def texts(self, shards: Shards, index: int) -> Texts:
        """One example as text; training keeps only ids."""
        if shards.split != TRAIN:
            return shards.raw(index)
        example = shards.example(index)
        return {name: self.tokenizers[name].decode(ids.tolist()) for name, ids in example.items()}

    def case(self, shards: Shards, index: int, note: str = "") -> Case:
        return Case(shards.split, index + 1, self.texts(shards, index), note)

    def empty(self, split: str, count: int) -> Iterator[Case]:
        """The first `count` raw examples with an empty side, by their number in the raw split."""
        found = 0
        for number, example in enumerate(islice(self._raw(split), EMPTY_SEARCHED), start=1):
            texts = {name: as_text(value) for name, value in example.items()}
            if not _whole(texts):
                yield Case(split, number, texts, "empty ones counted")
                found += 1
            if found == count:
                return

    def _raw(self, split: str) -> Iterator[Example]:
        """The examples that were prepared, as they came."""
        problem, seed = self.prepared.problem, self.prepared.info["seed"]
        rng = random.Random(f"{self.name}/{split}/{seed}")  # as in preparing
        read = source_of(problem, self.prepared.folder.parent)
        return islice(read(split, rng), problem.sizes[split])

    def _full(self) -> Iterator[Texts]:
        for example in self._raw(TRAIN):
            texts = {name: as_text(value) for name, value in example.items()}
            if _whole(texts):
                yield texts


def evenly(total: int, most: int) -> Indices:
    """At most `most` of the numbers below `total`, the same way apart."""
    if total <= most:
        return np.arange(total)
    return np.arange(most) * total // most


def _whole(texts: Texts) -> bool:
    return all(text.strip() for text in texts.values())

"""Text without labels, for a language model that classifiers begin from."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from heedful.data.sources import Download
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature
from heedful.problems.glue import Cola, InColumns, Sst2
from heedful.problems.language_modelling import Wikitext2
from heedful.problems.published import Published
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.subwords import Subwords


@dataclass(frozen=True, kw_only=True)
class ElmoText(Published):
    """Sentences without labels, for a language model that classifiers begin from: the training
    texts of SST-2 and CoLA, and WikiText-2 cut after full stops."""

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"
    tasks: ClassVar[tuple[type[InColumns], ...]] = (Sst2, Cola)

    text: Text = field(default_factory=lambda: Subwords(size=8_000))

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(self.text)}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    def downloads(self) -> tuple[Download, ...]:
        of_tasks = (one for task in self.tasks for one in task().downloads())
        return (*of_tasks, *Wikitext2().downloads())

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        """The texts of a split. No test of a task is in any of them."""
        for task in self.tasks:
            if split != TEST:
                for example in task().read(files, split, rng):
                    yield {"targets": example["inputs"]}
        for line in Wikitext2().lines(split, files):
            if not line.strip().startswith("="):  # a heading
                for sentence in sentences(line):
                    yield {"targets": sentence}


def sentences(line: str) -> Iterator[str]:
    """A paragraph of WikiText, cut after each full stop that stands alone."""
    for sentence in line.strip().split(" . "):
        ended = sentence.removesuffix(" .").strip()
        if ended:
            yield f"{ended} ."


@problems.register("elmo_text")
def elmo_text() -> ElmoText:
    """Text for `elmo_base`: the sentences of SST-2 and CoLA without labels, and WikiText-2."""
    return ElmoText()

"""Your own texts with labels: columns between tabs, one text and its label a line."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heedful.data.columns import read_columns
from heedful.data.files import count_lines, read_lines
from heedful.errors import HeedfulError, UsageError, nearest
from heedful.problems.base import TEST, TRAIN, VALID, Example
from heedful.problems.classification import Classification, joined
from heedful.problems.own_files import place_of
from heedful.registry import problems

_HELD_OUT_LINES = 2_000  # a split made by the rule below aims at no more than this

Line = tuple[str, int, str, str]  # file, number, text, label


@problems.register("labelled_files")
@dataclass(frozen=True, kw_only=True)
class LabelledFiles(Classification):
    """Label texts as your own files do: columns between tabs, one text and its label a line.

    `columns` are the text's, or two for two texts; `label` is the label's. They are numbers from 1;
    or names, and then the first line of each file is a header. Without files for valid or test,
    lines are held out by a hash of their text, `held_out` of them each, at most about 2,000.

    A label that no training line has is an error that names file and line, unless `labels` says
    that there is such a label: then it is one, and always guessed wrong.
    """

    train: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("1",)
    label: str = "2"
    labels: tuple[str, ...] = ()  # all there are; none for those of the training lines
    held_out: float = 0.05

    def __post_init__(self) -> None:
        if len(self.columns) not in (1, 2):
            raise UsageError(
                f"a text stands in one column, two texts in two; got {len(self.columns)}: "
                f"{', '.join(self.columns)}"
            )
        if not 0 < self.held_out < 0.5:
            raise UsageError(f"problem.held_out must be over 0 and under 0.5, got {self.held_out}")

    @property
    def two(self) -> bool:
        return len(self.columns) == 2

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels

    def files(self) -> tuple[Path, ...]:
        """Every file that examples come from, in a fixed order."""
        self._given(TRAIN)
        return tuple(map(Path, (*self.train, *self.valid, *self.test)))

    def check(self) -> None:
        """Begin to read every file: what is wrong with its name or first lines is said now."""
        for path in self.files():
            next(read_lines(path))
            next(read_columns(path, (*self.columns, self.label)), None)

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        known = set(self.labels) or (None if split == TRAIN else self._learnt())
        found = False
        for path, number, text, label in self._lines(split):
            if known is not None and label and label not in known:
                raise _unknown(path, number, label, sorted(known), bool(self.labels))
            found = found or bool(text and label)
            yield {"inputs": text, "targets": label}
        if not found:
            names = ", ".join(self._given(split) or self.train)
            raise HeedfulError(
                f"no line of {names} that is left for {split} has both a text and a label. Give "
                f"more lines, files for it (problem.{split}=…), or raise problem.held_out"
            )

    def _lines(self, split: str) -> Iterator[Line]:
        given = self._given(split)
        share = self._share()
        for path in given or self.train:
            for number, cells in read_columns(path, (*self.columns, self.label)):
                text, label = joined(cells[:-1]), cells[-1].strip()
                if (given and split != TRAIN) or self._split(text, share) == split:
                    yield path, number, text, label

    def _learnt(self) -> set[str]:
        """The labels of the training lines."""
        return {label for _, _, text, label in self._lines(TRAIN) if text and label}

    def _split(self, text: str, share: float) -> str:
        place = place_of(text)
        if place < share and not self.valid:
            return VALID
        return TEST if place >= 1 - share and not self.test else TRAIN

    def _share(self) -> float:
        if self.valid and self.test:
            return 0.0
        lines = sum(count_lines(path) for path in self.train)
        return min(self.held_out, _HELD_OUT_LINES / max(1, lines))

    def _given(self, split: str) -> tuple[str, ...]:
        if self.label in self.columns:
            raise UsageError(f"column '{self.label}' cannot be both the text and its label")
        given = {TRAIN: self.train, VALID: self.valid, TEST: self.test}[split]
        if split == TRAIN and not given:
            raise UsageError(
                "labelled_files needs files to learn from: --text train.tsv, with a text and its "
                "label in each line"
            )
        return given


def _unknown(path: str, number: int, label: str, known: list[str], said: bool) -> HeedfulError:
    of = "problem.labels" if said else "the training lines"
    few = ", ".join(known[:10]) + (" …" if len(known) > 10 else "")
    return HeedfulError(
        f"line {number:,} of {path} has the label '{label}', which none of {of} has."
        f"{nearest(label, known)} There are: {few}. Mend the line, or name every label: "
        "--set problem.labels=a,b,c"
    )

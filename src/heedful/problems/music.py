"""Music to be guessed event by event: from a folder of MIDI files, and as others publish it.

A piece is cut into windows, and a model meets each anew. Those that are trained on begin anywhere
in a piece, a few semitones higher or lower and a little faster or slower than it was played; those
that are judged on follow each other from the beginning of the piece, and are as it was played. The
metric is the loss: nats an event (or, of chorales, a note), the end of a window counted.
"""

import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.own_files import place_of
from heedful.problems.published import Published
from heedful.registry import problems
from heedful.text import midi
from heedful.text.base import Text
from heedful.text.midi import SUFFIXES, Note, stretched, transposed
from heedful.text.performance import Performance, performed

STRETCHES = (0.95, 0.975, 1.0, 1.025, 1.05)
SEMITONES = 3


@dataclass(frozen=True, kw_only=True)
class Music(Problem):
    """Pieces in windows, judged by how likely they are."""

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"

    piece: int = 2_048  # symbols of a window at most, its end counted
    transpose: int = SEMITONES  # so many semitones up or down at most, in training
    copies: int = 4  # how often a piece is trained on, each time moved otherwise

    def __post_init__(self) -> None:
        if self.piece < 9:
            raise UsageError(f"problem.piece must be 9 or more, got {self.piece}")
        if not 0 <= self.transpose <= 12:
            raise UsageError(f"problem.transpose is 0 to 12 semitones, got {self.transpose}")
        if self.copies < 1:
            raise UsageError(f"problem.copies must be 1 or more, got {self.copies}")

    @property
    @abstractmethod
    def text(self) -> Text:
        """How music is cut into symbols."""

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(self.text, "music")}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    def windows(
        self, symbols: Sequence[int], rng: random.Random | None = None, whole: int = 1
    ) -> Iterator[list[int]]:
        """A piece in windows of whole groups of symbols; from anywhere on, if chance is given."""
        room = (self.piece - 1) // whole * whole
        first = 0
        if rng is not None and len(symbols) > room:
            first = rng.randrange(room // whole) * whole
            yield list(symbols[:first])
        for begin in range(first, len(symbols), room):
            yield list(symbols[begin : begin + room])


@dataclass(frozen=True, kw_only=True)
class Performances(Music):
    """Performances as events: 128 keys down, 128 up, 100 waits of 10 ms to 1 s, 32 loudnesses."""

    stretch: tuple[float, ...] = STRETCHES  # how many times slower a piece may be, in training

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.stretch or not all(0.25 <= factor <= 4 for factor in self.stretch):
            raise UsageError(
                f"problem.stretch is one or more numbers from 0.25 to 4, got {self.stretch}"
            )

    @property
    def text(self) -> Text:
        return Performance()

    def examples_of(
        self, split: str, pieces: Sequence[list[Note]], rng: random.Random
    ) -> Iterator[Example]:
        """The windows of pieces, as text."""
        tokenizer = Performance().train([])
        for notes in pieces:
            for _ in range(self.copies if split == TRAIN else 1):
                moved = self._moved(notes, rng) if split == TRAIN else notes
                for window in self.windows(performed(moved), rng if split == TRAIN else None):
                    if window:
                        yield {"targets": tokenizer.said(window)}

    def _moved(self, notes: list[Note], rng: random.Random) -> list[Note]:
        by = rng.randint(-self.transpose, self.transpose)
        return stretched(transposed(notes, by), rng.choice(self.stretch))


@problems.register("music_performance")
@dataclass(frozen=True, kw_only=True)
class FolderPerformance(Performances):
    """Music from a folder of MIDI files, whatever is in its folders too.

    A file goes to a split by its name: hashed (BLAKE2b) to a number from 0 to 1, it goes to valid
    below `held_out` and to test at 1 - `held_out` or above.
    """

    folder: str = ""
    held_out: float = 0.1

    def files(self) -> tuple[Path, ...]:
        """Every MIDI file, in a fixed order."""
        if not self.folder:
            raise UsageError(
                "music_performance needs a folder of MIDI files: --set problem.folder=midi"
            )
        if not 0 < self.held_out < 0.5:
            raise UsageError(f"problem.held_out must be over 0 and under 0.5, got {self.held_out}")
        folder = Path(self.folder)
        if not folder.is_dir():
            raise HeedfulError(f"there is no folder of MIDI files {folder}")
        found = sorted(
            path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file()
        )
        if not found:
            raise HeedfulError(
                f"the folder {folder} has no MIDI files in it: none ends in {', '.join(SUFFIXES)}"
            )
        return tuple(found)

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        chosen = [path for path in self.files() if self._split(path) == split]
        if not chosen:
            raise HeedfulError(
                f"no file of {self.folder} fell to the {split} split. Give more, or change "
                f"problem.held_out={self.held_out}"
            )
        if split == TRAIN:
            rng.shuffle(chosen)
        for path in chosen:
            yield from self.examples_of(split, [midi.read(str(path))], rng)

    def _split(self, path: Path) -> str:
        place = place_of(path.relative_to(self.folder).as_posix())
        return VALID if place < self.held_out else TEST if place >= 1 - self.held_out else TRAIN


@dataclass(frozen=True, kw_only=True)
class PublishedPerformances(Published, Performances):
    """Performances that others publish, with splits of their own."""

    @abstractmethod
    def pieces(self, split: str, files: Mapping[str, Path]) -> Iterator[list[Note]]:
        """The pieces of a split; `files` are the downloads by their names."""

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        for notes in self.pieces(split, files):
            yield from self.examples_of(split, [notes], rng)

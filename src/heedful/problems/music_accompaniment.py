"""Melodies to be accompanied: a melody is read, and all voices are to be written.

Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281: the decoder writes
the melody too, so that it hears the voices together. Departs from the paper: on the grid of
chorales, in place of performances.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.music_chorales import JsbChorales
from heedful.registry import problems
from heedful.text.chorale import REST, VOICES, Chorale
from heedful.text.melody import Melody

FEATURES = {"inputs": Feature(Melody(), "melody"), "targets": Feature(Chorale(), "music")}
SCALE = (0, 2, 4, 5, 7, 9, 11)  # semitones of its steps
LOWEST, STEPS = 60, 14  # of a melody: its lowest key at least, and how many steps it has
LONGS = (1, 2, 4)  # sixteenths of a note


@problems.register("music_accompaniment")
@dataclass(frozen=True, kw_only=True)
class Accompaniment(JsbChorales):
    """Bach's chorales: the soprano is read, and all four voices are to be written."""

    @property
    def features(self) -> dict[str, Feature]:
        return FEATURES

    def example(self, window: list[int]) -> Example:
        return accompanied(window)


@problems.register("music_canons")
@dataclass(frozen=True, kw_only=True)
class Canons(Problem):
    """Made-up melodies, and three voices in canon with them: one goes before, two follow.

    All is known from the melody: the alto sings what the melody sings `apart` sixteenths later, the
    tenor what it sang as long ago and the bass what it sang twice as long ago, each `lower`
    semitones below the one above.
    """

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"

    length: int = 48  # sixteenths of a melody
    apart: int = 4
    lower: int = 5
    train_examples: int = 20_000
    valid_examples: int = 200
    test_examples: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= 12 or self.apart < 0 or self.length < 1:
            raise UsageError(
                "problem.lower is 0 to 12, problem.apart 0 or more, problem.length 1 or more; "
                f"got {self.lower}, {self.apart} and {self.length}"
            )

    @property
    def features(self) -> dict[str, Feature]:
        return FEATURES

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        while True:
            yield accompanied(self.canon(self.melody(rng)))

    def melody(self, rng: random.Random) -> list[int]:
        """A walk on a scale, of short and long notes."""
        base, step = LOWEST + rng.randrange(12), rng.randrange(STEPS)
        found: list[int] = []
        while len(found) < self.length:
            octave, place = divmod(step, len(SCALE))
            found += [base + 12 * octave + SCALE[place]] * rng.choice(LONGS)
            step = min(max(step + rng.choice((-2, -1, 1, 2)), 0), STEPS - 1)
        return found[: self.length]

    def canon(self, melody: Sequence[int]) -> list[int]:
        """All voices, from high to low at each sixteenth."""

        def sings(row: int, voice: int) -> int:
            there = row + (0, self.apart, -self.apart, -2 * self.apart)[voice]
            return melody[there] - voice * self.lower if 0 <= there < len(melody) else REST

        return [sings(row, voice) for row in range(len(melody)) for voice in range(VOICES)]


def accompanied(symbols: Sequence[int]) -> Example:
    """The voices of a piece, and the highest of them as what is read."""
    said = Chorale().train([]).said
    return {"inputs": said(symbols[::VOICES]), "targets": said(symbols)}

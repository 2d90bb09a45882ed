"""Motifs that return: made-up melodies, of which each theme comes again and again, transposed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.performance import LOUD, OFF, ON, WAIT, Performance

EVENTS_A_NOTE = 3  # down, a wait, up
MIDDLE, REACH = 64, 30  # keys of a melody: so far from the middle one
LONGS = (10, 20, 40)  # of a note, in steps of 10 ms


@problems.register("music_motifs")
@dataclass(frozen=True, kw_only=True)
class Motifs(Problem):
    """Melodies whose motif returns: transposed, after some notes of no consequence or none.

    What a return says after its first note is known: it is the motif, so many semitones away. Those
    to test on are `longer` times as long as those that are trained on.
    """

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"

    length: int = 192  # events of a melody
    longer: int = 2
    shortest: int = 4  # notes of a motif
    longest: int = 8
    between: int = 4  # notes between two returns, at most
    interval: int = 5  # semitones that a return is away, at most
    train_examples: int = 20_000
    valid_examples: int = 200
    test_examples: int = 200

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise UsageError(
                f"a motif has 1 note or more: problem.shortest={self.shortest}, "
                f"problem.longest={self.longest}"
            )
        if self.length < EVENTS_A_NOTE * 2 * self.longest:
            raise UsageError(
                f"problem.length={self.length} has no room for a motif of {self.longest} notes and "
                f"its return: set it to {EVENTS_A_NOTE * 2 * self.longest} or more"
            )
        if self.longer < 1 or self.between < 0 or not 0 <= self.interval <= 24:
            raise UsageError(
                "problem.longer is 1 or more, problem.between 0 or more, problem.interval 0 to 24; "
                f"got {self.longer}, {self.between} and {self.interval}"
            )

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(Performance(), "music")}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        tokenizer = Performance().train([])
        length = self.length * (self.longer if split == TEST else 1)
        while True:
            yield {"targets": tokenizer.said(self.melody(length, rng)[0])}

    def melody(self, length: int, rng: random.Random) -> tuple[list[int], list[bool]]:
        """So many events, and which of them a listener could know: a return, but for its first key
        down."""
        motif = [_drawn(rng, REACH - self.interval) for _ in range(self._notes(rng))]
        events, known = [LOUD + 15], [False]
        shift, again = 0, False
        while len(events) < length:
            for place, (key, long) in enumerate(motif):
                events += _events(key + shift, long)
                known += [again and place > 0, again, again]
            for _ in range(rng.randint(0, self.between)):
                events += _events(*_drawn(rng, REACH))
                known += [False, False, True]  # a key that is down goes up
            shift, again = rng.randint(-self.interval, self.interval), True
        return events[:length], known[:length]

    def _notes(self, rng: random.Random) -> int:
        return rng.randint(self.shortest, self.longest)


def _drawn(rng: random.Random, reach: int) -> tuple[int, int]:
    """A key and how long it is down."""
    return MIDDLE + rng.randint(-reach, reach), rng.choice(LONGS)


def _events(key: int, long: int) -> tuple[int, int, int]:
    return ON + key, WAIT + long - 1, OFF + key

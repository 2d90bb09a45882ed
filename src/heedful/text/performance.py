"""Performances: what a pianist does, one event after the other.

Simon and Oore, "Performance RNN: Generating Music with Expressive Timing and Dynamics", 2017,
https://magenta.tensorflow.org/performance-rnn; also the events of Huang et al., "Music
Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281. A key goes down (128 events) or up (128),
10 ms to 1 s pass (100), or it is from now on so loud (32). Times are rounded to 10 ms and loudness
to 32 levels; all else of a piece comes back as it was.

Departs from the paper: of notes that begin within the same 10 ms the lowest comes first, in place
of the earliest, so that equal music has equal events.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import HeedfulError
from heedful.text import midi
from heedful.text.base import Text
from heedful.text.midi import KEYS, Note
from heedful.text.music import MusicTokenizer, Place

STEPS = 100  # a second
SHIFTS = 100  # the longest wait, in steps
LEVELS = 32
WIDTH = 4  # velocities that are one level
ON, OFF, WAIT, LOUD = 0, KEYS, 2 * KEYS, 2 * KEYS + SHIFTS  # where each kind of event begins
EVENTS = LOUD + LEVELS  # 388
USUAL = 16  # the level before any is said: in the middle
WORDS = (
    *(f"on{key}" for key in range(KEYS)),
    *(f"off{key}" for key in range(KEYS)),
    *(f"wait{steps}" for steps in range(1, SHIFTS + 1)),
    *(f"loud{level}" for level in range(1, LEVELS + 1)),
)


@dataclass(frozen=True)
class Performance(Text, kind="performance"):
    """Piano performances as 388 events."""

    def train(self, texts: Iterable[str]) -> "PerformanceTokenizer":
        return PerformanceTokenizer()


class PerformanceTokenizer(MusicTokenizer):
    """Ids of events: the event's number, after the special ids."""

    kind: ClassVar[str] = "performance"
    words: tuple[str, ...] = WORDS

    def heard(self, text: str) -> list[int]:
        return performed(midi.read(text))

    def notes(self, ids: Iterable[int]) -> list[Note]:
        return played(number for number in self._symbols(ids) if number is not None)

    def places(self, ids: Iterable[int]) -> list[Place]:
        now, found = 0, []
        for number in self._symbols(ids):
            key = None if number is None or number >= WAIT else number % KEYS
            found.append(Place(now / STEPS, key, number is not None and number < OFF))
            now += 0 if number is None else waited(number)
        return found

    def seconds(self, ids: Iterable[int]) -> float:
        return sum(waited(n) for n in self._symbols(ids) if n is not None) / STEPS

    def to_json(self) -> dict[str, Any]:
        return {"events": EVENTS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        if data.get("events") != EVENTS:
            raise HeedfulError(
                f"a vocabulary of performances has {EVENTS} events, this file says "
                f"{data.get('events')}"
            )
        return cls()


def waited(event: int) -> int:
    """The steps that an event lets pass."""
    return event - WAIT + 1 if WAIT <= event < LOUD else 0


def quantised(notes: Iterable[Note]) -> list[Note]:
    """The notes as events can say them: on the 10 ms, a step long at least, of 32 loudnesses.

    Of one key's notes that overlap, the first to begin is the first to end.
    """
    return sorted(
        Note(start / STEPS, end / STEPS, pitch, _velocity(level))
        for start, pitch, end, level in _sounds(notes)
    )


def performed(notes: Iterable[Note]) -> list[int]:
    """The events of notes."""
    sounds = _sounds(notes)
    turns: list[tuple[int, int, bool]] = []  # when, which note, whether it ends
    for number, (start, _, end, _) in enumerate(sounds):
        turns += [(start, number, False), (end, number, True)]
    events: list[int] = []
    now, loud = 0, 0
    for step, number, ends in sorted(turns):
        while step > now:
            wait = min(step - now, SHIFTS)
            events.append(WAIT + wait - 1)
            now += wait
        _, pitch, _, level = sounds[number]
        if ends:
            events.append(OFF + pitch)
            continue
        if level != loud:
            loud = level
            events.append(LOUD + loud - 1)
        events.append(ON + pitch)
    return events


def played(events: Iterable[int]) -> list[Note]:
    """The notes of events, sorted. A key that is let go without being down is let be; one that is
    never let go sounds to the end."""
    now, loud = 0, USUAL
    down: dict[int, deque[tuple[int, int]]] = {}  # when and how loud
    found: list[Sound] = []
    for event in events:
        now += waited(event)
        key = event % KEYS
        if event < OFF:
            down.setdefault(key, deque()).append((now, loud))
        elif event < WAIT and down.get(key):
            start, level = down[key].popleft()
            found.append((start, key, now, level))
        elif event >= LOUD:
            loud = event - LOUD + 1
    for key, waiting in down.items():
        found += [(start, key, now, level) for start, level in waiting]
    return sorted(
        Note(start / STEPS, max(end, start + 1) / STEPS, pitch, _velocity(level))
        for start, pitch, end, level in found
    )


def kinds(events: Sequence[int]) -> dict[str, float]:
    """The share of each kind of event."""
    bounds = {"on": (ON, OFF), "off": (OFF, WAIT), "wait": (WAIT, LOUD), "loud": (LOUD, EVENTS)}
    count = max(1, len(events))
    return {
        name: sum(low <= event < high for event in events) / count
        for name, (low, high) in bounds.items()
    }


Sound = tuple[int, int, int, int]  # first step, pitch, last step, level


def _sounds(notes: Iterable[Note]) -> list[Sound]:
    """Notes in steps, as they are sorted for events; a key's first to begin is its first to end."""
    sounds = sorted(
        (_step(n.start), n.pitch, max(_step(n.end), _step(n.start) + 1), _level(n.velocity))
        for n in notes
    )
    ends: dict[int, deque[int]] = {}
    for end, pitch in sorted((end, pitch) for _, pitch, end, _ in sounds):
        ends.setdefault(pitch, deque()).append(end)
    return sorted((start, pitch, ends[pitch].popleft(), level) for start, pitch, _, level in sounds)


def _step(seconds: float) -> int:
    return max(0, int(seconds * STEPS + 0.5))


def _level(velocity: int) -> int:
    """1 to 32."""
    return (velocity - 1) // WIDTH + 1


def _velocity(level: int) -> int:
    return 1 + WIDTH * (level - 1)

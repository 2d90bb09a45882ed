"""Chorales on a grid: at every sixteenth, what each of four voices sings, from high to low.

The form of the chorales of J. S. Bach in Boulanger-Lewandowski, Bengio and Vincent, "Modeling
Temporal Dependencies in High-Dimensional Sequences", ICML 2012, https://arxiv.org/abs/1206.6392,
voices apart, as in Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281.
A voice that sings the same pitch on is one long note: a note that is sung again is not told apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from heedful.errors import HeedfulError
from heedful.text import midi
from heedful.text.base import Text
from heedful.text.midi import KEYS, Note
from heedful.text.music import MusicTokenizer, Place

VOICES = 4
REST = KEYS  # the symbol of a voice that is silent
SECONDS = 0.125  # of a sixteenth, at 120 beats a minute
LOUDNESS = 80
WORDS = (*map(str, range(KEYS)), "-")

Grid = Sequence[Sequence[int]]  # a row a sixteenth, a pitch or REST a voice


@dataclass(frozen=True)
class Chorale(Text, kind="chorale"):
    """Music in four voices, a symbol a voice at every sixteenth."""

    def train(self, texts: Iterable[str]) -> "ChoraleTokenizer":
        return ChoraleTokenizer()


class ChoraleTokenizer(MusicTokenizer):
    """Ids of pitches and of silence, after the special ids: soprano, alto, tenor, bass, and on."""

    kind: ClassVar[str] = "chorale"
    words: tuple[str, ...] = WORDS
    group: int = VOICES

    def heard(self, text: str) -> list[int]:
        return [symbol for row in on_grid(midi.read(text, sixteenths=True)) for symbol in row]

    def notes(self, ids: Iterable[int]) -> list[Note]:
        return sung((n for n in self._symbols(ids) if n is not None), self.group)

    def places(self, ids: Iterable[int]) -> list[Place]:
        done, found = 0, []
        before = [REST] * self.group
        for symbol in self._symbols(ids):
            time, voice = done // self.group * SECONDS, done % self.group
            if symbol is None or symbol == REST:
                found.append(Place(time))
            else:
                found.append(Place(time, symbol, symbol != before[voice]))
            if symbol is not None:
                before[voice] = symbol
                done += 1
        return found

    def seconds(self, ids: Iterable[int]) -> float:
        return sum(s is not None for s in self._symbols(ids)) // self.group * SECONDS

    def to_json(self) -> dict[str, Any]:
        return {"voices": self.group}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        if data.get("voices") != cls.group:
            raise HeedfulError(
                f"a vocabulary of kind '{cls.kind}' has voices: {cls.group}, this file says "
                f"{data.get('voices')}"
            )
        return cls()


def sung(symbols: Iterable[int], voices: int = VOICES) -> list[Note]:
    """The notes of symbols, a channel a voice; a row that is not whole has silent voices."""
    found: list[Note] = []
    since: list[tuple[int, int]] = [(0, REST)] * voices  # from which row on, which pitch
    everything = list(symbols)
    rows = -(-len(everything) // voices)
    everything += [REST] * (rows * voices - len(everything))
    for row in range(rows + 1):
        for voice in range(voices):
            start, pitch = since[voice]
            now = everything[row * voices + voice] if row < rows else REST
            if now == pitch:
                continue
            if pitch != REST:
                end = row * SECONDS
                found.append(Note(start * SECONDS, end, pitch, LOUDNESS, voice))
            since[voice] = (row, now)
    return sorted(found)


def on_grid(notes: Sequence[Note]) -> list[list[int]]:
    """Notes, times in sixteenths, on the grid: a channel a voice if there are up to four, else the
    four highest pitches that sound."""
    channels = {note.channel for note in notes}
    if len(channels) == 1 or not channels <= set(range(VOICES)):
        return highest(notes, VOICES)
    return [
        [next((n.pitch for n in reversed(row) if n.channel == v), REST) for v in range(VOICES)]
        for row in _sounding(notes)
    ]


def highest(notes: Sequence[Note], voices: int) -> list[list[int]]:
    """At each sixteenth the highest pitches that sound, so many of them."""
    found = []
    for row in _sounding(notes):
        pitches = sorted({note.pitch for note in row}, reverse=True)[:voices]
        found.append(pitches + [REST] * (voices - len(pitches)))
    return found


def _sounding(notes: Sequence[Note]) -> list[list[Note]]:
    """The notes that sound at each sixteenth; each at one at least, but for what begins at the
    very end."""
    rows: list[list[Note]] = [[] for _ in range(max(1, *(round(note.end) for note in notes)))]
    for note in notes:
        start = round(note.start)
        for row in rows[start : max(round(note.end), start + 1)]:
            row.append(note)
    return rows


def transposed(grid: Grid, by: int) -> list[list[int]]:
    """Every voice so many semitones higher; a pitch that there is no key for is silent."""
    return [[_moved(pitch, by) for pitch in row] for row in grid]


def _moved(pitch: int, by: int) -> int:
    return pitch + by if pitch != REST and 0 <= pitch + by < KEYS else REST

"""A melody on the grid of chorales: at every sixteenth what is sung, one voice and no other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from heedful.text import midi
from heedful.text.base import Text
from heedful.text.chorale import REST, ChoraleTokenizer, highest
from heedful.text.midi import Note


@dataclass(frozen=True)
class Melody(Text, kind="melody"):
    """One voice, a symbol a sixteenth."""

    def train(self, texts: Iterable[str]) -> "MelodyTokenizer":
        return MelodyTokenizer()


class MelodyTokenizer(ChoraleTokenizer):
    """Ids of pitches and of silence, the same as a chorale's. Where a piece has several notes at
    once, its melody is the highest of them."""

    kind: ClassVar[str] = "melody"
    group: int = 1

    def heard(self, text: str) -> list[int]:
        return [pitch for (pitch,) in highest(midi.read(text, sixteenths=True), 1)]


def is_alone(notes: Sequence[Note]) -> bool:
    """Whether never two notes, times in sixteenths, sound at once."""
    return all(second == REST for _, second in highest(notes, 2))

"""Music as a feature: whatever reads MIDI and writes it, however it cuts it into symbols."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from heedful.text import midi
from heedful.text.base import Tokenizer
from heedful.text.midi import Note
from heedful.text.specials import NAMES, RESERVED


class Place(NamedTuple):
    """Where a symbol stands in a piece: at which second, on which key if it is about one, and
    whether a note begins by it."""

    time: float
    pitch: int | None = None
    begins: bool = False


class MusicTokenizer(Tokenizer):
    """A vocabulary of music. As text, a piece is the name of a MIDI file, all of one in a word
    (`data:audio/midi;base64,…`), or the symbols with spaces between."""

    lossless: ClassVar[bool] = False  # what it decodes to is the same music, not the same text
    words: tuple[str, ...]  # the symbols by number
    group: int = 1  # symbols that belong together: a piece has a whole number of so many

    def __init__(self) -> None:
        self.size = RESERVED + len(self.words)
        self._numbers = {word: number for number, word in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        symbols = [self._numbers.get(word) for word in text.split()]
        if midi.is_written(text) or None in symbols:
            symbols = list(self.heard(text))
        return [number + RESERVED for number in symbols if number is not None]

    def decode(self, ids: Iterable[int]) -> str:
        """The piece as a MIDI file, written out."""
        return midi.word(midi.composed(self.notes(ids)))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [NAMES[i] if i < RESERVED else self.words[i - RESERVED] for i in self._known(ids)]

    def said(self, numbers: Iterable[int]) -> str:
        """Symbols, by their numbers, as text."""
        return " ".join(self.words[number] for number in numbers)

    @abstractmethod
    def heard(self, text: str) -> list[int]:
        """The symbols, by number, of a MIDI file by its name or written out."""

    @abstractmethod
    def notes(self, ids: Iterable[int]) -> list[Note]:
        """What these ids sound like."""

    @abstractmethod
    def places(self, ids: Iterable[int]) -> list[Place]:
        """Where each id stands; special ones where the piece has come to."""

    @abstractmethod
    def seconds(self, ids: Iterable[int]) -> float:
        """How long a piece is."""

    def _symbols(self, ids: Iterable[int]) -> list[int | None]:
        """The number of each id's symbol; None for a special one."""
        return [i - RESERVED if i >= RESERVED else None for i in self._known(ids)]

"""From keyed words to a written sentence pair: elision, capitals, spaces, and the alignment."""

from collections.abc import Sequence
from dataclasses import dataclass

from .english import takes_an
from .french import elide
from .phrases import Phrase, Token


@dataclass(frozen=True)
class Pair:
    """A sentence in both languages; `alignment` joins the words of each that say the same thing.

    Its indices are into `words(english)` and `words(french)`.
    """

    english: str
    french: str
    alignment: tuple[tuple[int, int], ...]


def utter(phrase: Phrase, mark: str) -> Pair:
    """Write a phrase down as a sentence that ends in the mark."""
    return Pair(
        write_english([word for word, _ in phrase.english], mark),
        write_french([word for word, _ in phrase.french], mark),
        align(phrase.english, phrase.french),
    )


def write_english(said: list[str], mark: str) -> str:
    """Spell a or an, capitalise, and close up before commas."""
    for at, word in enumerate(said):
        if word == "a" and at + 1 < len(said) and takes_an(said[at + 1]):
            said[at] = "an"
    text = " ".join(said).replace(" ,", ",")
    return text[0].upper() + text[1:] + mark


def write_french(said: list[str], mark: str) -> str:
    """Elide, capitalise, and leave the space French keeps before ? and !."""
    elide(said)
    text = " ".join(said).replace("' ", "'").replace(" ,", ",")
    return text[0].upper() + text[1:] + (mark if mark == "." else " " + mark)


def align(english: Sequence[Token], french: Sequence[Token]) -> tuple[tuple[int, int], ...]:
    """Every pair of positions whose words share a key; the closing marks align too."""
    where: dict[object, list[int]] = {}
    for at, (_, key) in enumerate(french):
        for each in key if type(key) is tuple else (key,):
            where.setdefault(each, []).append(at)
    joined = [
        (at, other)
        for at, (_, key) in enumerate(english)
        for each in (key if type(key) is tuple else (key,))
        for other in where.get(each, ())
    ]
    joined.append((len(english), len(french)))
    return tuple(sorted(set(joined)))

"""The chorales of J. S. Bach, in four voices, as they are published with a split.

Boulanger-Lewandowski, Bengio and Vincent, "Modeling Temporal Dependencies in High-Dimensional
Sequences", ICML 2012, https://arxiv.org/abs/1206.6392; voices apart and on sixteenths as in Huang,
Cooijmans, Roberts, Courville and Eck, "Counterpoint by Convolution", ISMIR 2017.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.data.archives import read_lines
from heedful.data.sources import Download
from heedful.errors import HeedfulError
from heedful.problems.base import TRAIN, Example
from heedful.problems.music import Music
from heedful.problems.published import Published
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.chorale import REST, VOICES, Chorale, transposed
from heedful.text.midi import KEYS

_NAME = "jsb_chorales/Jsb16thSeparated.json"
_URL = (
    "https://raw.githubusercontent.com/czhuang/JSB-Chorales-dataset/"
    "9a7f733ddb4ed91f48da64ac7f0f621c34aadd4d/Jsb16thSeparated.json"
)
CHORALES = Download(
    f"{_NAME}.xz",
    (),
    "646439947740f31824936200813f0f79d67d4c6ca9beca21d043e740811b1394",
    61_304,
    instead=Download(_NAME, (_URL,)),
)


@problems.register("music_jsb_chorales")
@dataclass(frozen=True, kw_only=True)
class JsbChorales(Published, Music):
    """Bach's chorales, four voices at every sixteenth: 229 pieces, 76 and 77 to judge by."""

    piece: int = 1_025  # 256 sixteenths of four voices, and the end
    transpose: int = 5
    copies: int = 32

    @property
    def text(self) -> Text:
        return Chorale()

    def downloads(self) -> tuple[Download, ...]:
        return (CHORALES,)

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        for grid in chorales(files[CHORALES.name])[split]:
            for _ in range(self.copies if split == TRAIN else 1):
                by = rng.randint(-self.transpose, self.transpose) if split == TRAIN else 0
                symbols = [pitch for row in transposed(grid, by) for pitch in row]
                chance = rng if split == TRAIN else None
                for window in self.windows(symbols, chance, VOICES):
                    if window:
                        yield self.example(window)

    def example(self, window: list[int]) -> Example:
        """What is to be learnt of a window of symbols."""
        return {"targets": Chorale().train([]).said(window)}


def chorales(path: Path) -> Mapping[str, list[list[list[int]]]]:
    """The pieces of each split: a row a sixteenth, a pitch or REST a voice."""
    try:
        found = json.loads("\n".join(read_lines(path)))
        return {
            split: [[[_pitch(pitch) for pitch in row] for row in piece] for piece in found[split]]
            for split in ("train", "valid", "test")
        }
    except (ValueError, KeyError, TypeError) as error:
        raise HeedfulError(
            f"{path} does not hold the chorales ({error}): delete it and get it again"
        ) from None


def _pitch(number: int) -> int:
    if not -1 <= number < KEYS:
        raise ValueError(f"{number} is no pitch")
    return REST if number < 0 else int(number)

"""Captions: say what is to be seen in a picture.

Several captions of a picture are as many examples. Those of one picture stay in one split, one
after the other, so that a metric can hold an output against all of them.
"""

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from heedful.data.compression import plain_name
from heedful.data.files import read_lines
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.own_files import place_of
from heedful.registry import problems
from heedful.text import bytes, chars, subwords  # noqa: F401  (so that problem.text can name them)
from heedful.text.base import Text
from heedful.text.pictures import Pictures, PictureTokenizer, read, written
from heedful.text.words import Words

_HEADS = {"image", "picture", "file", "name", "filename", "image_name", "file_name"}


@dataclass(frozen=True, kw_only=True)
class Captions(Problem):
    """Pictures of one size, and words about them."""

    metrics: ClassVar[tuple[str, ...]] = (
        "caption_bleu1",
        "caption_bleu2",
        "caption_bleu3",
        "caption_bleu4",
        "exact_match",
    )
    best_by: ClassVar[str] = "caption_bleu4"

    pictures: Pictures = field(default_factory=Pictures)
    text: Text = field(default_factory=lambda: Words(size=10_000))
    lowercase: bool = True

    @property
    def features(self) -> dict[str, Feature]:
        return {
            "inputs": Feature(self.pictures, "pictures"),
            "targets": Feature(self.text, "captions"),
        }

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    @property
    def scaler(self) -> PictureTokenizer:
        """What brings pictures to their size."""
        return self.pictures.train([])

    def caption(self, text: str) -> str:
        """A caption as it is learnt."""
        plain = " ".join(text.split())
        return plain.lower() if self.lowercase else plain


@problems.register("captions")
@dataclass(frozen=True, kw_only=True)
class FolderCaptions(Captions):
    """Say what is to be seen in the pictures of a folder, by a file of captions.

    The file has a caption a line, after the picture's name: between them a tab, or as CSV a comma;
    a picture may have several lines. Pictures go to splits by their names: hashed (BLAKE2b) to a
    number from 0 to 1, a name goes to valid below `held_out` and to test at 1 - `held_out` or
    above.
    """

    folder: str = ""
    captions: str = ""
    held_out: float = 0.1

    def files(self) -> tuple[Path, ...]:
        """The file of captions, and every picture it names."""
        path, found = self._path(), self._read()
        return (path, *(self._picture(name, lines[0][0]) for name, lines in found.items()))

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        chosen = [one for one in self._read().items() if self._split(one[0]) == split]
        if not chosen:
            raise HeedfulError(
                f"no picture of {self.captions} fell to the {split} split. Give more, or change "
                f"problem.held_out={self.held_out}"
            )
        rng.shuffle(chosen)
        scaler = self.scaler
        for name, lines in chosen:
            try:
                picture = read(str(self._picture(name, lines[0][0])))
            except HeedfulError as error:
                raise HeedfulError(f"line {lines[0][0]:,} of {self.captions}: {error}") from None
            scaled = written(scaler.fit(picture))
            for _, caption in lines:
                yield {"inputs": scaled, "targets": caption}

    def _split(self, name: str) -> str:
        place = place_of(name)
        return VALID if place < self.held_out else TEST if place >= 1 - self.held_out else TRAIN

    def _path(self) -> Path:
        if not self.folder or not self.captions:
            raise UsageError(
                "captions needs a folder of pictures and a file of captions: --set "
                "problem.folder=photos --set problem.captions=captions.tsv"
            )
        if not 0 < self.held_out < 0.5:
            raise UsageError(f"problem.held_out must be over 0 and under 0.5, got {self.held_out}")
        folder = Path(self.folder)
        if not folder.is_dir():
            raise HeedfulError(f"there is no folder of pictures {folder}")
        if not any(folder.iterdir()):
            raise HeedfulError(f"the folder of pictures {folder} is empty")
        return Path(self.captions)

    def _picture(self, name: str, number: int) -> Path:
        path = Path(self.folder) / name
        if not path.is_file():
            raise HeedfulError(
                f"line {number:,} of {self.captions} names the picture '{name}', which is not in "
                f"{self.folder}"
            )
        return path

    def _read(self) -> dict[str, list[tuple[int, str]]]:
        """The captions of each picture, with the numbers of their lines."""
        found: dict[str, list[tuple[int, str]]] = {}
        for number, name, caption in read_captions(self._path()):
            if not caption.strip():
                raise HeedfulError(
                    f"line {number:,} of {self.captions} has an empty caption for '{name}'. Write "
                    "one, or remove the line"
                )
            found.setdefault(name, []).append((number, self.caption(caption)))
        return found


def read_captions(path: Path) -> Iterator[tuple[int, str, str]]:
    """Number of the line, name of the picture and caption, from TSV or CSV.

    A first line that says what the columns are (`image,caption`) is skipped, and so is what
    Flickr8k adds to a name (`#0`).
    """
    comma = plain_name(path).lower().endswith(".csv")
    lines = enumerate(read_lines(path), start=1)
    some = False
    for number, line in lines:
        if not line.strip():
            continue
        name, caption = _columns(line, comma, path, number)
        if number == 1 and name.lower() in _HEADS:
            continue
        if not name:
            raise HeedfulError(f"line {number:,} of {path} names no picture before its caption")
        some = True
        yield number, name, caption
    if not some:
        raise HeedfulError(f"{path} has no captions: each line must be a picture's name and one")


def _columns(line: str, comma: bool, path: Path, number: int) -> tuple[str, str]:
    if comma:
        try:
            cells = next(csv.reader([line], strict=True))
        except (csv.Error, StopIteration) as error:
            raise HeedfulError(
                f"line {number:,} of {path} is not CSV: {error}. A caption stands in one line, "
                "within quotes where it has commas"
            ) from None
    else:
        cells = line.split("\t")
    if len(cells) != 2:
        between = "commas" if comma else "tabs"
        raise HeedfulError(
            f"line {number:,} of {path} has {len(cells)} column{'s' * (len(cells) != 1)} between "
            f"{between}, and must have two: the picture's name and the caption"
        )
    name, _, _ = cells[0].strip().partition("#")
    return name, cells[1]

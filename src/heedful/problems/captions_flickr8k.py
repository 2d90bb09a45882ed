"""Flickr8k: eight thousand photographs with five captions each, by people.

Hodosh, Young and Hockenmaier, "Framing Image Description as a Ranking Task: Data, Models and
Evaluation Metrics", JAIR 2013, https://doi.org/10.1613/jair.3994.
"""

import csv
import io
import lzma
import random
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from heedful.data.archives import read_lines
from heedful.data.sources import Download
from heedful.errors import HeedfulError
from heedful.problems.base import TEST, TRAIN, VALID, Example
from heedful.problems.captions import Captions
from heedful.problems.published import Published
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.pictures import MOST_BYTES, Pictures, Pixels, opened, written
from heedful.text.words import Words

_URL = "https://github.com/jbrownlee/Datasets/releases/download/Flickr8k/"
_PHOTOGRAPHS, _TEXTS = "flickr8k/Flickr8k_Dataset.zip", "flickr8k/Flickr8k_text.zip"
_LISTS = {TRAIN: "trainImages", VALID: "devImages", TEST: "testImages"}

_SMALL_PICTURES, _SMALL_TEXTS = "flickr8k_1k/images_32x32.npy.xz", "flickr8k_1k/captions.csv.xz"
_SMALL_SPLITS = {TRAIN: range(800), VALID: range(800, 900), TEST: range(900, 1_000)}


@dataclass(frozen=True, kw_only=True)
class PublishedCaptions(Published, Captions):
    """Captions whose pictures must be fetched first."""

    @abstractmethod
    def captioned(
        self, split: str, files: Mapping[str, Path]
    ) -> Iterable[tuple[Pixels, list[str]]]:
        """Every picture of a split, scaled, with its captions."""

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        for picture, captions in self.captioned(split, files):
            text = written(picture)
            for caption in captions:
                yield {"inputs": text, "targets": self.caption(caption)}


@problems.register("flickr8k")
@dataclass(frozen=True, kw_only=True)
class Flickr8k(PublishedCaptions):
    """Say what is to be seen in a photograph: Flickr8k, with its own splits.

    6,000 photographs to learn from, 1,000 each for valid and test; read from the two .zip files as
    they were published, never unpacked.
    """

    version: ClassVar[int] = 1

    def downloads(self) -> tuple[Download, ...]:
        return tuple(
            Download(name, (_URL + name.rpartition("/")[2],)) for name in (_TEXTS, _PHOTOGRAPHS)
        )

    def captioned(
        self, split: str, files: Mapping[str, Path]
    ) -> Iterator[tuple[Pixels, list[str]]]:
        wanted = [name for name in read_lines(files[_TEXTS], _member(_LISTS[split])) if name]
        captions: dict[str, list[str]] = {name: [] for name in wanted}
        for number, line in enumerate(read_lines(files[_TEXTS], "*Flickr8k.token.txt"), start=1):
            name, tab, caption = line.partition("\t")
            if not tab:
                raise HeedfulError(
                    f"line {number:,} of Flickr8k.token.txt in {files[_TEXTS]} has no tab between "
                    "the picture and its caption: delete the file and get it again"
                )
            name = name.partition("#")[0]
            if name in captions:  # there are captions of pictures that are in no split
                captions[name].append(caption)
        scaler = self.scaler
        with _archive(files[_PHOTOGRAPHS]) as archive:
            members = {one.filename.rpartition("/")[2]: one for one in archive.infolist()}
            for name in wanted:
                if name not in members:
                    raise HeedfulError(f"no photograph {name} in {files[_PHOTOGRAPHS]}")
                data = _member_bytes(archive, members[name], files[_PHOTOGRAPHS])
                yield scaler.fit(opened(data, f"{name} in {files[_PHOTOGRAPHS]}")), captions[name]


@problems.register("flickr8k_1k")
@dataclass(frozen=True, kw_only=True)
class SmallFlickr8k(PublishedCaptions):
    """Say what is to be seen in a photograph: the first 1,000 of Flickr8k, 32 x 32 pixels.

    800, 100 and 100 photographs, in the order of their captions. The files are made from Flickr8k
    and published nowhere: they come from a mirror.
    """

    pictures: Pictures = field(default_factory=lambda: Pictures(32, 32))
    text: Text = field(default_factory=lambda: Words(size=2_000))

    def downloads(self) -> tuple[Download, ...]:
        return (
            Download(
                _SMALL_PICTURES,
                (),
                "3ad2168855bef6f0a76d72846109da475c6e2601d78d3f09a05bfeb1551977c3",
                2_188_108,
            ),
            Download(
                _SMALL_TEXTS,
                (),
                "23cc4b82d41aea09c9d4be49f89bb6f40c782717961281eb887f173df14d9051",
                86_496,
            ),
        )

    def captioned(
        self, split: str, files: Mapping[str, Path]
    ) -> Iterator[tuple[Pixels, list[str]]]:
        from PIL import Image

        captions: dict[str, list[str]] = {}
        for name, caption in list(csv.reader(read_lines(files[_SMALL_TEXTS])))[1:]:
            captions.setdefault(name, []).append(caption)
        with lzma.open(files[_SMALL_PICTURES]) as packed:
            pictures: Any = np.load(io.BytesIO(packed.read()), allow_pickle=False)
        scaler, by_number = self.scaler, list(captions.values())
        for number in _SMALL_SPLITS[split]:
            yield scaler.fit(Image.fromarray(pictures[number])), by_number[number]


def _member(name: str) -> str:
    return f"*Flickr_8k.{name}.txt"


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise HeedfulError(f"{path} cannot be read ({error}): delete it and get it again") from None


def _member_bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> bytes:
    if member.file_size > MOST_BYTES:
        raise HeedfulError(f"{member.filename} in {path} has over {MOST_BYTES:,} bytes")
    try:
        return archive.read(member)
    except (OSError, RuntimeError, zipfile.BadZipFile) as error:
        raise HeedfulError(
            f"{member.filename} in {path} is damaged ({error}): delete the file and get it again"
        ) from None

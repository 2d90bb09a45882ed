"""Tatoeba: short sentences by volunteers, with translations, as the Anki project packs them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from heedful.data.archives import read_lines
from heedful.data.sources import Download
from heedful.errors import HeedfulError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.corpora import Corpus, Pairs
from heedful.registry import problems

_BUCKETS = 100
_BUCKET = {VALID: 1, TEST: 2}  # bucket 0 is in no split: it is left for a last test
_CODES = {"de": "deu", "fr": "fra"}
_SOURCES = {
    "de": Download(
        "tatoeba/deu-eng.tsv.xz",
        (),
        "e4582e34985d56fea5b1bb828d3a1ddc8b28c6fd99d6f5c0965d259a6d108a97",
        2_538_660,
        instead=Download(
            "tatoeba/deu-eng.zip",
            (
                "https://raw.githubusercontent.com/rioyshky/translation/"
                "de48b7027f7318d77010a6e08ed928c10748c23d/deu-eng.zip",
            ),
        ),
    ),
    "fr": Download(
        "tatoeba/fra-eng.tsv.xz",
        (),
        "c83021704b7b803220c22447032baba44fa503ed8c8e796890f3dfb3b4cf2a40",
        2_196_752,
        instead=Download(
            "tatoeba/fra-eng.zip",
            (
                "https://raw.githubusercontent.com/modelexlab/data/"
                "adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
            ),
        ),
    ),
}
_SIZES = {  # train, valid, test
    "de": (164_709, 1_734, 1_699),
    "fr": (162_306, 1_630, 1_596),
}


@dataclass(frozen=True, kw_only=True)
class Tatoeba(Corpus):
    """Short everyday sentences between English and German (2018) or French (2019).

    They come unsplit, with one English sentence on several lines, so splits are made by a hash of
    the English (`bucket_of`): of 100 buckets, 1 is valid, 2 is test, 0 is in none of them.
    """

    languages: ClassVar[tuple[str, ...]] = ("en", "de", "fr")
    hub: ClassVar[str | None] = "en"

    @property
    def other(self) -> str:
        """The language that is not English."""
        return self.target if self.source == "en" else self.source

    @property
    def sizes(self) -> dict[str, int | None]:
        return dict(zip((TRAIN, VALID, TEST), _SIZES[self.other], strict=True))

    def downloads(self) -> tuple[Download, ...]:
        return (_SOURCES[self.other],)

    def pairs(self, split: str, files: Mapping[str, Path]) -> Pairs:
        path = files[_SOURCES[self.other].name]
        member = f"*{_CODES[self.other]}.txt" if path.suffix == ".zip" else None
        for number, line in enumerate(read_lines(path, member), start=1):
            parts = line.split("\t")  # a third column, in newer packs, names the authors
            if len(parts) < 2:
                raise HeedfulError(
                    f"{path} is not English, a tab, and its translation: line {number:,} has no "
                    "tab. Delete it and get it again"
                )
            bucket = bucket_of(parts[0])
            if bucket == _BUCKET[split] if split in _BUCKET else bucket > 2:
                yield (parts[0], parts[1]) if self.source == "en" else (parts[1], parts[0])


def bucket_of(english: str) -> int:
    """Which of 100 buckets a sentence falls into, the same on every machine."""
    return int(hashlib.sha256(english.encode("utf-8")).hexdigest()[:8], 16) % _BUCKETS


@problems.register("tatoeba_en_de")
def tatoeba_en_de() -> Tatoeba:
    """English to German everyday sentences: 168,000 pairs of Tatoeba, split by a hash."""
    return Tatoeba(source="en", target="de")


@problems.register("tatoeba_de_en")
def tatoeba_de_en() -> Tatoeba:
    """German to English everyday sentences: 168,000 pairs of Tatoeba, split by a hash."""
    return Tatoeba(source="de", target="en")


@problems.register("tatoeba_en_fr")
def tatoeba_en_fr() -> Tatoeba:
    """English to French everyday sentences: 166,000 pairs of Tatoeba, split by a hash."""
    return Tatoeba(source="en", target="fr")


@problems.register("tatoeba_fr_en")
def tatoeba_fr_en() -> Tatoeba:
    """French to English everyday sentences: 166,000 pairs of Tatoeba, split by a hash."""
    return Tatoeba(source="fr", target="en")

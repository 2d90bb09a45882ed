"""IWSLT 2014 German-English: talks given at TED, with the split that papers use."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from heedful.data.archives import read_lines, segments
from heedful.data.sources import Download
from heedful.problems.base import TEST, TRAIN
from heedful.problems.corpora import Corpus, Pairs
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.subwords import Subwords

_ARCHIVE = Download(
    "iwslt14/de-en.tgz",
    (
        "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
        "https://wit3.fbk.eu/archive/2014-01/texts/de/en/de-en.tgz",
    ),
)
_TESTS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
_VALID_EVERY = 23  # of the lines to learn from, one in so many is for validation
_ABOUT = ("<url>", "<talkid>", "<keywords>")  # lines about a talk, not of it
_TAGS = re.compile(r"</?(title|description)>")
_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class Iwslt14(Corpus):
    """TED talks of IWSLT 2014, split as is usual: Ranzato, Chopra, Auli and Zaremba, "Sequence
    Level Training with Recurrent Neural Networks", ICLR 2016, https://arxiv.org/abs/1511.06732.

    Lines with more than `longest_words` words on a side, or with more than `ratio` times as many
    as on the other, are left out; of the rest, every 23rd is for validation. The test is dev2010,
    dev2012 and tst2010 to tst2012. Departs from the usual recipe: text is not lower-cased and not
    tokenised, words are counted without Moses, and typographic apostrophes are kept.
    """

    languages: ClassVar[tuple[str, ...]] = ("de", "en")

    text: Text = field(default_factory=lambda: Subwords(size=10_000))
    longest_words: int = 175
    ratio: float = 1.5

    def downloads(self) -> tuple[Download, ...]:
        return (_ARCHIVE,)

    def pairs(self, split: str, files: Mapping[str, Path]) -> Pairs:
        path = files[_ARCHIVE.name]
        if split == TEST:
            for name in _TESTS:
                member = f"de-en/IWSLT14.{name}.de-en.%s.xml"
                yield from self.both(partial(_test, path, member), f"{member % '*'} in {path}")
            return
        kept = 0
        for pair in self._talks(path):
            if self._fits(*pair):
                kept += 1
                if (kept % _VALID_EVERY == 0) == (split != TRAIN):
                    yield pair

    def _talks(self, path: Path) -> Pairs:
        member = "de-en/train.tags.de-en.%s"
        return self.both(partial(_spoken, path, member), f"{member % '*'} in {path}")

    def _fits(self, source: str, target: str) -> bool:
        fewer, more = sorted(len(_WORDS.findall(side)) for side in (source, target))
        return fewer >= 1 and more <= self.longest_words and more <= self.ratio * fewer


def _test(path: Path, member: str, side: str) -> Iterator[str]:
    return segments(read_lines(path, member % side))


def _spoken(path: Path, member: str, side: str) -> Iterator[str]:
    """What is said in the talks, titles and descriptions included, without markup."""
    for line in read_lines(path, member % side):
        if not any(tag in line for tag in _ABOUT):
            yield _TAGS.sub("", line).strip()


@problems.register("iwslt14_de_en")
def iwslt14_de_en() -> Iwslt14:
    """German to English talks: IWSLT 2014 with the usual split, cased."""
    return Iwslt14(source="de", target="en")


@problems.register("iwslt14_en_de")
def iwslt14_en_de() -> Iwslt14:
    """English to German talks: IWSLT 2014 with the usual split, cased."""
    return Iwslt14(source="en", target="de")

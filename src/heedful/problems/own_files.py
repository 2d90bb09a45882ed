"""Your own files: line N of the source is translated by line N of the target, or both in a line."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from heedful.data.files import count_lines, read_lines, read_parallel
from heedful.data.pairs import read_pairs
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text import bytes, chars, words  # noqa: F401  (so that problem.text can name them)
from heedful.text.base import Text
from heedful.text.subwords import Subwords

_HELD_OUT_LINES = 2_000  # a split made by the rule below aims at no more than this


@problems.register("own_files")
@dataclass(frozen=True, kw_only=True)
class OwnFiles(Problem):
    """Translate between your own files of text, one sentence a line.

    `pairs` are files that hold both sides (TSV, JSON lines), `fields` which two of their columns or
    keys. Without files for valid or test, those are split off by the source line: hashed (BLAKE2b)
    to a number from 0 to 1, it goes to valid below `share` and to test at 1 - `share` or above,
    where `share` is `held_out`, or 2,000 over the number of lines if that is less. So it depends on
    no order, and equal sources stay together.
    """

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact_match")
    best_by: ClassVar[str] = "bleu"

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    valid_source: tuple[str, ...] = ()
    valid_target: tuple[str, ...] = ()
    valid_pairs: tuple[str, ...] = ()
    test_source: tuple[str, ...] = ()
    test_target: tuple[str, ...] = ()
    test_pairs: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # of files of pairs: the source's and the target's
    text: Text = field(default_factory=Subwords)
    shared: bool = True  # one vocabulary for both sides
    held_out: float = 0.02

    @property
    def features(self) -> dict[str, Feature]:
        names = ("shared", "shared") if self.shared else ("source", "target")
        return {"inputs": Feature(self.text, names[0]), "targets": Feature(self.text, names[1])}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    def files(self) -> tuple[Path, ...]:
        """Every file that examples come from, in a fixed order."""
        groups = [files for split in (TRAIN, VALID, TEST) for files in self._files(split)]
        return tuple(Path(path) for files in groups for path in files)

    def check(self) -> None:
        """Begin to read every file: what is wrong with its name or its first line is said now."""
        self._share()
        for split in (TRAIN, VALID, TEST):
            for files in self._files(split):
                for path in files:
                    next(read_lines(path))
                if len(files) == 1:
                    next(self._read(files), None)
        if self.fields and not (self.pairs or self.valid_pairs or self.test_pairs):
            raise UsageError("--fields chooses columns or keys of --pairs FILE, which is missing")

    def lines(self, most: int | None = None) -> int:
        """How many pairs there are to learn from, held-out ones among them; or `most`, if more."""
        count = 0
        for files in self._files(TRAIN):
            if most is not None and count >= most:
                break
            count += count_lines(files[0], most)
        return count if most is None else min(count, most)

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        share = self._share()
        given = self._files(split)
        whole = bool(given) and split != TRAIN
        found = False
        for files in given or self._files(TRAIN):
            for inputs, targets in self._read(files):
                if whole or self._split(inputs, share) == split:
                    found = found or bool(inputs.strip() and targets.strip())
                    yield {"inputs": inputs, "targets": targets}
        if found:
            return
        names = ", ".join(path for files in given or self._files(TRAIN) for path in files)
        if whole or split == TRAIN:
            raise HeedfulError(f"no pair of {names} that is left for {split} has two full sides")
        raise HeedfulError(
            f"no pair of {names} fell to the {split} split. Give --{split}-source and "
            f"--{split}-target, or raise problem.held_out={self.held_out}"
        )

    def _read(self, files: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        return read_parallel(*files) if len(files) == 2 else read_pairs(files[0], self.fields)

    def _split(self, source: str, share: float) -> str:
        place = place_of(source)
        if place < share and not (self.valid_source or self.valid_pairs):
            return VALID
        if place >= 1 - share and not (self.test_source or self.test_pairs):
            return TEST
        return TRAIN

    def _share(self) -> float:
        if not 0 < self.held_out < 0.5:
            raise UsageError(f"problem.held_out must be over 0 and under 0.5, got {self.held_out}")
        given = [self._files(VALID), self._files(TEST)]
        if all(given):
            return 0.0
        return min(self.held_out, _HELD_OUT_LINES / max(1, self.lines()))

    def _files(self, split: str) -> list[tuple[str, ...]]:
        """The files of a split: two for those whose lines belong together, one for pairs."""
        prefix = "" if split == TRAIN else f"{split}_"
        sources: tuple[str, ...] = getattr(self, f"{prefix}source")
        targets: tuple[str, ...] = getattr(self, f"{prefix}target")
        pairs: tuple[str, ...] = getattr(self, f"{prefix}pairs")
        if split == TRAIN and not (sources or targets or pairs):
            raise UsageError(
                "own_files needs files to learn from: --source train.en --target train.fr, or "
                "--pairs train.tsv"
            )
        if len(sources) != len(targets):
            raise UsageError(
                f"problem.{prefix}source names {len(sources)} files and problem.{prefix}target "
                f"{len(targets)}: they must come in pairs"
            )
        return [*zip(sources, targets, strict=True), *((path,) for path in pairs)]


def place_of(line: str) -> float:
    """A line's place between 0 and 1, the same on every machine."""
    digest = hashlib.blake2b(line.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64

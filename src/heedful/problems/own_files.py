"""Your own files: line N of the source is translated by line N of the target."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from heedful.data.files import count_lines, read_parallel
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

    Without files for valid or test, those are split off by the source line: hashed (BLAKE2b) to a
    number from 0 to 1, it goes to valid below `share` and to test at 1 - `share` or above, where
    `share` is `held_out`, or 2,000 over the number of lines if that is less. So it depends on no
    order, and equal sources stay together.
    """

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact_match")
    best_by: ClassVar[str] = "bleu"

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    valid_source: tuple[str, ...] = ()
    valid_target: tuple[str, ...] = ()
    test_source: tuple[str, ...] = ()
    test_target: tuple[str, ...] = ()
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
        pairs = [pair for split in (TRAIN, VALID, TEST) for pair in self._pairs(split)]
        return tuple(Path(path) for pair in pairs for path in pair)

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        given = self._pairs(split)
        pairs = given or self._pairs(TRAIN)
        share = self._share()
        found = False
        for source, target in pairs:
            for inputs, targets in read_parallel(source, target):
                if (given and split != TRAIN) or self._split(inputs, share) == split:
                    found = True
                    yield {"inputs": inputs, "targets": targets}
        if not found:
            raise HeedfulError(
                f"no line of {', '.join(self.source)} fell to the {split} split. "
                f"Give problem.{split}_source and problem.{split}_target, or raise "
                f"problem.held_out={self.held_out}"
            )

    def _split(self, source: str, share: float) -> str:
        place = place_of(source)
        if place < share and not self.valid_source:
            return VALID
        if place >= 1 - share and not self.test_source:
            return TEST
        return TRAIN

    def _share(self) -> float:
        if not 0 < self.held_out < 0.5:
            raise UsageError(f"problem.held_out must be over 0 and under 0.5, got {self.held_out}")
        if self.valid_source and self.test_source:
            return 0.0
        lines = sum(count_lines(source) for source, _ in self._pairs(TRAIN))
        return min(self.held_out, _HELD_OUT_LINES / max(1, lines))

    def _pairs(self, split: str) -> list[tuple[str, str]]:
        prefix = "" if split == TRAIN else f"{split}_"
        sources: tuple[str, ...] = getattr(self, f"{prefix}source")
        targets: tuple[str, ...] = getattr(self, f"{prefix}target")
        if split == TRAIN and not (sources or targets):
            raise UsageError(
                "own_files needs files to learn from: --source train.en --target train.fr"
            )
        if len(sources) != len(targets):
            raise UsageError(
                f"problem.{prefix}source names {len(sources)} files and problem.{prefix}target "
                f"{len(targets)}: they must come in pairs"
            )
        return list(zip(sources, targets, strict=True))


def place_of(line: str) -> float:
    """A line's place between 0 and 1, the same on every machine."""
    digest = hashlib.blake2b(line.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64

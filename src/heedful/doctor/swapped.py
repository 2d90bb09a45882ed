"""Whether the sides of a pair of files were exchanged, by the letters that follow each other.

A profile is how often each three characters occur. A part of the data whose sources look more like
the training targets, and whose targets more like the training sources, was probably swapped.
"""

import math
from collections import Counter
from collections.abc import Iterator

from heedful.doctor.finding import SHOWN, Case, Finding
from heedful.doctor.texts import Texts
from heedful.problems.base import TRAIN

LINES = 200  # of each block, enough for a profile
CHARACTERS = 200  # of each line
FEWEST = 10  # lines that a guess needs
BLOCKS = 16  # that the training split is cut into: one of several files may be the wrong way round
MARGIN = 0.1  # by which the sum of the two likenesses must be greater the other way round

Profile = Counter[str]


def likeness(a: Profile, b: Profile) -> float:
    """The cosine of two profiles: 1 for the same, 0 for nothing in common."""
    small, large = sorted((a, b), key=len)
    dot = sum(n * large[gram] for gram, n in small.items())
    return dot / max(1e-9, math.sqrt(_square(a) * _square(b)))


def _square(profile: Profile) -> float:
    return float(sum(n * n for n in profile.values()))


class Block:
    """A part of a split: where it begins and ends, and the profiles of its two sides."""

    def __init__(self, split: str) -> None:
        self.split = split
        self.lines = 0
        self.begin = self.end = 0
        self.source: Profile = Counter()
        self.target: Profile = Counter()
        self.cases: list[Case] = []

    def add(self, index: int, texts: Texts) -> None:
        if not self.lines:
            self.begin = index
        self.end = index
        self.lines += 1
        if self.lines > LINES:
            return
        for profile, text in ((self.source, texts["inputs"]), (self.target, texts["targets"])):
            text = f" {text[:CHARACTERS]} "
            profile.update(text[i : i + 3] for i in range(len(text) - 2))
        if len(self.cases) < SHOWN:
            self.cases.append(Case(self.split, index + 1, texts))


class Swapped:
    """Compares every block with the training split as a whole."""

    def __init__(self, train_lines: int) -> None:
        self.size = max(FEWEST, -(-train_lines // BLOCKS))
        self.blocks: dict[str, list[Block]] = {}

    def see(self, split: str, index: int, texts: Texts) -> None:
        blocks = self.blocks.setdefault(split, [Block(split)])
        if split == TRAIN and blocks[-1].lines == self.size:
            blocks.append(Block(split))
        blocks[-1].add(index, texts)

    def findings(self) -> Iterator[Finding]:
        train = self.blocks.get(TRAIN, [])
        source: Profile = sum((block.source for block in train), Counter())
        target: Profile = sum((block.target for block in train), Counter())
        wrong = [
            block
            for blocks in self.blocks.values()
            for block in blocks
            if block.lines >= FEWEST and _looks_swapped(block, source, target)
        ]
        for block in wrong:
            where = "the split" if block.split != TRAIN else "training examples"
            yield Finding(
                "problem",
                f"swapped_{block.split}",
                f"inputs and targets of {where} {block.split} look swapped"
                if block.split != TRAIN
                else f"{where} {block.begin + 1:,} to {block.end + 1:,} look swapped: inputs like "
                "the other targets, targets like the other inputs",
                block.lines,
                "Exchange the two files, or those lines of them",
                tuple(block.cases),
            )
        if not wrong and train:
            title = "no split and no part of training looks as if its sides were swapped"
            yield Finding("ok", "swapped", title, 0)


def _looks_swapped(block: Block, source: Profile, target: Profile) -> bool:
    straight = likeness(block.source, source) + likeness(block.target, target)
    crossed = likeness(block.source, target) + likeness(block.target, source)
    return crossed > straight + MARGIN

"""Two coloured shapes somewhere on a dark ground: captions whose every word has a place."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.own_files import place_of
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.pictures import Pictures, Pixels, written
from heedful.text.words import Words

GRID, CELL = 5, 6  # cells a side, pixels a side of a cell
COLOURS = {
    "red": (230, 40, 40),
    "green": (40, 200, 60),
    "blue": (60, 90, 240),
    "yellow": (230, 210, 40),
}
SHAPES = {  # 6 x 6, a dot for the ground
    "square": ("......", ".####.", ".####.", ".####.", ".####.", "......"),
    "ring": ("......", ".####.", ".#..#.", ".#..#.", ".####.", "......"),
    "cross": ("......", "..##..", ".####.", ".####.", "..##..", "......"),
    "triangle": ("......", ".#....", ".##...", ".###..", ".####.", "......"),
}


@problems.register("caption_shapes")
@dataclass(frozen=True, kw_only=True)
class CaptionShapes(Problem):
    """Name two coloured shapes from left to right: "red square blue ring".

    They stand in two columns of a grid of 5 x 5 cells, 6 pixels a side. So each word is about one
    cell, and it is known which. No picture is in two splits.
    """

    metrics: ClassVar[tuple[str, ...]] = ("exact_match", "token_accuracy")
    best_by: ClassVar[str] = "exact_match"

    text: Text = field(default_factory=Words)
    train_examples: int = 20_000
    valid_examples: int = 200
    test_examples: int = 1_000

    @property
    def features(self) -> dict[str, Feature]:
        side = GRID * CELL
        return {
            "inputs": Feature(Pictures(side, side), "pictures"),
            "targets": Feature(self.text, "captions"),
        }

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train_examples, VALID: self.valid_examples, TEST: self.test_examples}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        while True:
            columns = sorted(rng.sample(range(GRID), 2))
            cells = [rng.randrange(GRID) * GRID + column for column in columns]
            named = [(rng.choice(list(COLOURS)), rng.choice(list(SHAPES))) for _ in cells]
            caption = " ".join(f"{colour} {shape}" for colour, shape in named)
            if _split(f"{cells} {caption}") == split:
                yield {"inputs": written(drawn(cells, named)), "targets": caption}


def _split(scene: str) -> str:
    """Of 64,000 scenes a tenth each are for valid and test, so that no picture is in two splits."""
    place = place_of(scene)
    return VALID if place < 0.1 else TEST if place >= 0.9 else TRAIN


def drawn(cells: list[int], named: list[tuple[str, str]]) -> Pixels:
    """A picture with these shapes in these cells."""
    side = GRID * CELL
    picture = np.zeros((side, side, 3), np.uint8)
    for cell, (colour, shape) in zip(cells, named, strict=True):
        top, left = cell // GRID * CELL, cell % GRID * CELL
        where = np.array([[dot == "#" for dot in row] for row in SHAPES[shape]])
        picture[top : top + CELL, left : left + CELL][where] = COLOURS[colour]
    return picture


def named_cells(picture: Pixels) -> list[int]:
    """The cell that each of the four words is about."""
    lit = picture.any(-1).reshape(GRID, CELL, GRID, CELL).any((1, 3))
    rows, columns = np.nonzero(lit)
    cells = sorted(zip(columns.tolist(), rows.tolist(), strict=True))
    return [row * GRID + column for column, row in cells for _ in range(2)]

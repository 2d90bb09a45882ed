"""A batch: rows of ids and where they stand, one set of rows a feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from heedful.nn.layout import Layout, ragged

WORDS = "words"  # beside the features: the words of the bucket that a batch is of


@dataclass(frozen=True, eq=False)
class Rows:
    """One feature of a batch: ids [B, L] and their layout."""

    ids: Tensor
    at: Layout

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Rows":
        return Rows(
            self.ids.to(device, non_blocking=non_blocking), self.at.to(device, non_blocking)
        )

    def select(self, rows: Tensor) -> "Rows":
        return Rows(self.ids[rows], self.at.select(rows))


@dataclass(frozen=True, eq=False)
class Shared(Rows):
    """One row that all rows of a batch have in common: it stays whichever of them are selected."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Shared":
        moved = super().to(device, non_blocking)
        return Shared(moved.ids, moved.at)

    def select(self, rows: Tensor) -> "Shared":
        return self


@dataclass(frozen=True, eq=False)
class Batch:
    """What a model is given: features by name ("inputs", "targets"), and whose they are."""

    features: dict[str, Rows]
    examples: tuple[int, ...] = ()  # indices into the split, so that a bad batch can be named

    @property
    def inputs(self) -> Rows:
        return self.features["inputs"]

    @property
    def targets(self) -> Rows:
        return self.features["targets"]

    @property
    def sides(self) -> dict[str, Rows]:
        """The features that have a row for each of the batch's rows."""
        return {name: rows for name, rows in self.features.items() if name != WORDS}

    @property
    def words(self) -> Rows | None:
        """The words of the bucket that the batch is of, one row; None where there are no buckets
        (see data/words.py)."""
        return self.features.get(WORDS)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        moved = {name: rows.to(device, non_blocking) for name, rows in self.features.items()}
        return Batch(moved, self.examples)


def pad(sequences: Sequence[Sequence[int]], length: int | None = None) -> Rows:
    """Sequences of ids as one padded set of rows, one sequence a row."""
    at = ragged([len(s) for s in sequences], length)
    ids = torch.zeros_like(at.positions)
    ids[at.real] = torch.from_numpy(np.fromiter(chain.from_iterable(sequences), np.int64))
    return Rows(ids, at)

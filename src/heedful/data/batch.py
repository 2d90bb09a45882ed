"""A batch: rows of ids and where they stand, one set of rows a feature."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.nn.layout import Layout, ragged


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

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        moved = {name: rows.to(device, non_blocking) for name, rows in self.features.items()}
        return Batch(moved, self.examples)


def pad(sequences: Sequence[Sequence[int]], length: int | None = None) -> Rows:
    """Sequences of ids as one padded set of rows, one sequence a row."""
    at = ragged([len(s) for s in sequences], length)
    ids = torch.zeros_like(at.positions)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.as_tensor(sequence, dtype=torch.long)
    return Rows(ids, at)

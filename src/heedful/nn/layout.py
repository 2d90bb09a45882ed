"""Where each token stands. Nothing else in the code knows about padding or packing.

B batch, L length.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each token stands: its place in its own sequence, and which sequence (0 is padding).

    Several sequences may share a row, told apart by `segments`; a padded batch is the case of one
    segment a row. In a source and its target, equal numbers in a row belong to each other.
    """

    positions: Int[Tensor, "..."]
    segments: Int[Tensor, "..."]
    seen: dict[Any, Any] = field(default_factory=dict, repr=False)  # masks made for this layout

    @property
    def real(self) -> Tensor:
        """True where there is a token and not padding, [B, L]."""
        return self.segments > 0

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Layout":
        return Layout(
            self.positions.to(device, non_blocking=non_blocking),
            self.segments.to(device, non_blocking=non_blocking),
        )

    def together(self, rows: int) -> "Layout":
        """The same tokens in so many rows, each of several that stood below each other."""
        if rows == len(self.positions):
            return self
        if ("together", rows) not in self.seen:
            self.seen["together", rows] = Layout(
                self.positions.reshape(rows, -1), self.segments.reshape(rows, -1)
            )
        joined: Layout = self.seen["together", rows]
        return joined

    def select(self, rows: Tensor) -> "Layout":
        return Layout(self.positions[rows], self.segments[rows])


def line(length: int, start: int = 0, batch: int = 1, device: torch.device | str = "cpu") -> Layout:
    """One sequence a row, from position `start` on, no padding."""
    positions = torch.arange(start, start + length, device=device).expand(batch, length)
    return Layout(positions, torch.ones_like(positions))


def ragged(lengths: Sequence[int], length: int | None = None) -> Layout:
    """One sequence a row, as long as `lengths` says, padded to the longest (or to `length`)."""
    width = max(lengths) if length is None else length
    positions = torch.arange(width).expand(len(lengths), width)
    segments = (positions < torch.tensor(list(lengths))[:, None]).long()
    return Layout(positions * segments, segments)

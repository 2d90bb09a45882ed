"""Where each token stands. Nothing else in the code knows about padding or packing.

B batch, L length.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor

Filling = Literal["full", "padded", "single", "in_turn", "packed"]
"""How the rows of a layout are filled: with one sequence each; with one and then padding; with one
and padding anywhere; with several, one after the other, and then padding; with any number, whose
tokens may stand apart."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each token stands: its place in its own sequence, and which sequence (0 is padding).

    Several sequences may share a row, told apart by `segments`; a padded batch is the case of one
    segment a row. In a source and its target, equal numbers in a row belong to each other.
    """

    positions: Int[Tensor, "..."]
    segments: Int[Tensor, "..."]
    seen: dict[Any, Any] = field(default_factory=dict, repr=False)  # masks made for this layout
    filled: Filling | None = field(default=None, repr=False)  # None where nobody has looked
    start: int | None = field(default=None, repr=False)
    """The position of the first token of every row, where each is one sequence, of number 1, that
    goes on without padding; None where nobody knows of such."""

    @property
    def real(self) -> Tensor:
        """True where there is a token and not padding, [B, L]."""
        return self.segments > 0

    @property
    def filling(self) -> Filling:
        """How the rows are filled, as far as can be said without waiting for a device."""
        if self.filled is None and self.segments.device.type == "cpu":
            return "packed" if torch.compiler.is_compiling() else _filling(self.segments)
        if self.filled is None and self.segments.shape[-1] == 1:
            return "padded"  # one token is one sequence
        return self.filled or "packed"

    @property
    def several(self) -> bool:
        """Whether a row may hold several sequences."""
        return self.filling in ("in_turn", "packed")

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Layout":
        return Layout(
            self.positions.to(device, non_blocking=non_blocking),
            self.segments.to(device, non_blocking=non_blocking),
            filled=self.filled,
            start=self.start,
        )

    def looked_at(self) -> "Layout":
        """The same, and it is known how its rows are filled."""
        return Layout(self.positions, self.segments, filled=self.filling, start=self.start)

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
        positions, segments = self.positions[rows], self.segments[rows]
        return Layout(positions, segments, filled=self.filled, start=self.start)


def line(length: int, start: int = 0, batch: int = 1, device: torch.device | str = "cpu") -> Layout:
    """One sequence a row, from position `start` on, no padding."""
    positions = torch.arange(start, start + length, device=device).expand(batch, length)
    return Layout(positions, torch.ones_like(positions), filled="full", start=start)


def ragged(lengths: Sequence[int], length: int | None = None) -> Layout:
    """One sequence a row, as long as `lengths` says, padded to the longest (or to `length`)."""
    width = max(lengths) if length is None else length
    positions = torch.arange(width).expand(len(lengths), width)
    segments = (positions < torch.tensor(list(lengths))[:, None]).long()
    full = all(each == width for each in lengths)
    return Layout(positions * segments, segments, filled="full" if full else "padded")


def _filling(segments: Tensor) -> Filling:
    """How rows are filled, by looking."""
    if not segments.numel():
        return "full"
    real = segments > 0
    alone = bool(((segments == segments.amax(1, keepdim=True)) | ~real).all())
    if alone and bool(real.all()):
        return "full"
    late = bool((real[:, 1:] & ~real[:, :-1]).any())  # tokens after padding
    if alone:
        return "single" if late else "padded"
    back = real[:, 1:] & (segments[:, 1:] < segments[:, :-1])
    return "packed" if late or bool(back.any()) else "in_turn"

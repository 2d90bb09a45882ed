"""What decoders see of a model, and what they give back. No more than this.

B batch, T new tokens, V vocabulary.
"""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from heedful.data.batch import Batch
from heedful.errors import HeedfulError
from heedful.nn.memory import Memory


class Decodable(Protocol):
    """A model that can be asked for one token after another."""

    def start(self, batch: Batch) -> Memory:
        """Read the source once. The memory has one row for each row of the batch."""
        ...

    def step(self, ids: Tensor, memory: Memory) -> Tensor:
        """Take the ids that come next, [B, T], T one or many; give logits [B, T, V].

        The first id of every sequence is `START`. There may be a whole number of rows for each of
        the source's, one after the other (see `Memory.reorder`).
        """
        ...


@dataclass(frozen=True)
class Hypothesis:
    """One decoded sequence: its ids without the end symbol, and how likely it was found."""

    ids: tuple[int, ...]
    score: float  # what it was ranked by: log-probability over the length penalty, plus coverage
    token_scores: tuple[float, ...]  # log-probability of each id, then of the end if it came
    finished: bool  # whether the end symbol came before the length ran out

    @property
    def log_probability(self) -> float:
        return sum(self.token_scores)


class RowError(HeedfulError):
    """A row of a batch that cannot be decoded, and why. The others might be."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row} cannot be decoded: {reason}")
        self.row = row
        self.reason = reason

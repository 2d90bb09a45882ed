"""Greedy search: at each step the likeliest token, and no second thoughts."""

from collections.abc import Sequence

from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.path import Leave, by_eighths, follow
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.scores import likeliest


def greedy_search(
    model: Decodable,
    batch: Batch,
    limits: Sequence[int],
    prefix: Prefix,
    alpha: float = 0.0,
    leave: Leave = by_eighths,
) -> list[list[Hypothesis]]:
    """One hypothesis a row; among equals the lowest id. `alpha` changes only the score."""
    return follow(model, batch, limits, prefix, _likeliest, alpha, leave=leave)


def _likeliest(log_probs: Tensor, step: int, rows: Tensor) -> Tensor:
    return likeliest(log_probs)

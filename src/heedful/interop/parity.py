"""Exported equals native: what two models say of the same targets, laid side by side."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.data.batch import Batch, pad
from heedful.decoding.search import at_rest
from heedful.models.base import Model
from heedful.text.specials import EOS, RESERVED

Pair = tuple[tuple[int, ...], tuple[int, ...]]  # a source and a target as ids, with their ends
CLOSE = 1e-3  # how far the log-probability of a token may be off; rounding in float32 is far less


def made_up(model: Model, count: int = 8, longest: int = 20) -> list[Pair]:
    """Random pairs of random lengths over a model's vocabularies; the same each time."""
    assert model.inputs is not None
    rng = random.Random(1)
    most = min(longest, model.longest or longest)

    def draw(size: int) -> tuple[int, ...]:
        length = rng.randint(0, most - 1)
        return (*(rng.randrange(RESERVED, size) for _ in range(length)), EOS)

    sizes = len(model.inputs.weight), len(model.targets.weight)
    return [(draw(sizes[0]), draw(sizes[1])) for _ in range(count)]


def log_probabilities(model: Model, pairs: Sequence[Pair]) -> list[Tensor]:
    """What our model says of each target's tokens after its source."""
    sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
    batch = Batch({"inputs": pad(sources), "targets": pad(targets)})
    with torch.no_grad(), at_rest(model):
        said = model.logits(batch).float().log_softmax(-1)
    return [
        row[: len(target)].gather(1, torch.tensor(target)[:, None])[:, 0]
        for row, target in zip(said, targets, strict=True)
    ]


def distance(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> float:
    """The largest difference between two lists of log-probabilities; infinite if one is NaN."""
    worst = [float((a - b).abs().max()) for a, b in zip(ours, theirs, strict=True)]
    return max((value if value == value else float("inf") for value in worst), default=0.0)

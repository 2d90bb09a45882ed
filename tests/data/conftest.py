"""Small prepared splits for the tests of this room."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from heedful.data.shards import Shards, ShardWriter

Pair = tuple[list[int], list[int]]
MakeShards = Callable[[Sequence[Pair]], Shards]


@pytest.fixture
def make_shards(tmp_path: Path) -> MakeShards:
    """Writes pairs of ids (without end symbols) as the training split of a new folder."""
    made = 0

    def make(pairs: Sequence[Pair]) -> Shards:
        nonlocal made
        made += 1
        folder = tmp_path / f"shards-{made}"
        folder.mkdir()
        with ShardWriter(folder, "train", ["inputs", "targets"], raw=False) as writer:
            for begin in range(0, len(pairs), 50):
                chunk = pairs[begin : begin + 50]
                writer.write({"inputs": [a for a, _ in chunk], "targets": [b for _, b in chunk]})
        return Shards(folder, "train")

    return make


@pytest.fixture
def shards(make_shards: MakeShards) -> Shards:
    """300 pairs, each made of ids that no other has."""
    rng = random.Random(7)
    pairs = []
    for i in range(300):
        long, short = rng.randint(1, 14), rng.randint(1, 14)
        pairs.append(([1000 + i] * long, [5000 + i] * short))
    return make_shards(pairs)

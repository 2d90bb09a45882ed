"""The recipe of training's batches: from it and a cursor, any process makes the same steps.

All epochs form one endless line of parts; a step is the next `parts` of them. Where an epoch ends
within a step, the step is filled up from the start of the next, so every kept example is seen
exactly once an epoch and none is dropped at an epoch's end. Of a mixture with a temperature, an
epoch is what `mixing` draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from heedful.data import buckets, mixing, packing, words
from heedful.data.batching import Batching, Bucketed, Packed
from heedful.data.parts import Draws, Part, assemble
from heedful.data.shards import Indices, Ints, Shards
from heedful.errors import HeedfulError, UsageError


@dataclass(frozen=True)
class Cursor:
    """Where the next part is: all that resuming needs to know."""

    epoch: int = 0
    part: int = 0


@dataclass(frozen=True, eq=False)
class Made:
    """One step as plain arrays: what a worker sends."""

    parts: list[tuple[Indices, list[Ints]]]  # examples, and [3, B, L] a feature
    cursor: Cursor  # after it
    tokens: int
    slots: int
    targets: int


@dataclass(frozen=True, eq=False)
class Recipe:
    """What the batches depend on, and nothing else."""

    shards: Shards
    features: tuple[str, ...]
    batching: Batching
    seed: int
    parts: int  # of a whole step, over all ranks
    rank: int = 0
    world: int = 1

    def __post_init__(self) -> None:
        if self.parts < 1 or self.parts % self.world:
            raise UsageError(
                f"a step of {self.parts} parts cannot be spread over {self.world} processes: "
                f"training.parts must be a multiple of {self.world}"
            )
        if not 0 <= self.rank < self.world:
            raise UsageError(f"rank {self.rank} is not one of {self.world} processes")
        if self.batching.temperature != 1 and self.shards.members is None:
            raise UsageError(
                f"batch.temperature={self.batching.temperature:g} is for the members of a mixture, "
                "and this problem is none: leave it out, or train on several (multilingual)"
            )

    def kept(self) -> Indices:
        """The examples that are trained on: those with no side over the limit."""
        larger = np.maximum.reduce([self.shards.lengths[name] for name in self.features])
        kept = np.flatnonzero(larger <= self.batching.limit)
        if not len(kept):
            raise HeedfulError(
                f"no example of the '{self.shards.split}' split can be trained on: "
                f"all {len(larger):,} are longer than {self.batching.limit} tokens. "
                f"Raise {self.batching.limited_by}"
            )
        return kept

    def line(self, start: Cursor) -> Iterator[tuple[Part, Cursor]]:
        """The endless line of parts from `start` on, each with the cursor after it."""
        lengths = [self.shards.lengths[name] for name in self.features]
        kept = self.kept()
        groups = self._groups(kept)
        counts = mixing.shares([len(group) for group in groups], self.batching.temperature)
        epoch, skip = start.epoch, start.part
        while True:
            held: Part | None = None  # one part is held back, to know whether it was the last
            draws = Draws(self.seed, epoch)
            chosen = mixing.draw(groups, counts, draws) if groups else kept
            plan = _plan(lengths, chosen, self.batching, draws)
            if self.batching.words:
                plan = words.in_buckets(plan, self.shards, self.features[-1], self.batching.words)
            for index, part in enumerate(plan):
                if held is not None:
                    yield held, Cursor(epoch, index)
                held = part if index >= skip else None
            if held is not None:
                yield held, Cursor(epoch + 1, 0)
            epoch, skip = epoch + 1, 0

    def steps(self, start: Cursor, take: int = 0, stride: int = 1) -> Iterator[Made]:
        """The steps from `start` on; of every `stride` of them, only number `take` is made."""
        line = self.line(start)
        number = 0
        while True:
            parts: list[Part] = []
            for _ in range(self.parts):
                part, cursor = next(line)
                parts.append(part)
            if number % stride == take:
                yield self._make(parts, cursor)
            number += 1

    def _groups(self, kept: Indices) -> list[Indices]:
        """The kept examples of each member; none where all are taken as they are."""
        members = self.shards.members
        if members is None or self.batching.temperature == 1:
            return []
        groups = [kept[members[kept] == number] for number in range(len(self.shards.labels))]
        for label, group in zip(self.shards.labels, groups, strict=True):
            if not len(group):
                raise HeedfulError(
                    f"no example of member '{label}' can be trained on: all are longer than "
                    f"{self.batching.limit} tokens. Raise {self.batching.limited_by}, or leave the "
                    "member out"
                )
        return groups

    def _make(self, parts: list[Part], cursor: Cursor) -> Made:
        mine = parts[self.rank :: self.world]
        examples = np.concatenate([part.examples for part in parts])
        tokens = {name: int(self.shards.lengths[name][examples].sum()) for name in self.features}
        return Made(
            parts=[(part.examples, assemble(self.shards, self.features, part)) for part in mine],
            cursor=cursor,
            tokens=sum(tokens.values()),
            slots=sum(part.slots for part in parts),
            targets=tokens[self.features[-1]],
        )


def _plan(lengths: list[Ints], kept: Indices, batching: Batching, draws: Draws) -> Iterator[Part]:
    if isinstance(batching, Packed):
        return packing.plan(lengths, kept, batching, draws)
    if isinstance(batching, Bucketed):
        return buckets.plan(lengths, kept, batching, draws)
    raise UsageError(f"no plan for batches of kind {type(batching).__name__}")

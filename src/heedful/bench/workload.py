"""The sentences that every row of a training benchmark works through, packed and padded."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from heedful.bench import flops
from heedful.data import buckets
from heedful.data.batch import Batch, Rows
from heedful.data.batching import Bucketed
from heedful.data.loader import Cursor, Loader, Step
from heedful.data.parts import assemble
from heedful.data.preparation import Prepared, Progress, prepare, silent
from heedful.data.shards import Shards
from heedful.errors import UsageError
from heedful.models.transformer import TransformerConfig
from heedful.nn.layout import Layout
from heedful.problems.base import TRAIN
from heedful.runs.config import RunConfig


@dataclass(frozen=True, eq=False)
class Workload:
    """Some training steps of a config: their sentences, and how they are batched by ours."""

    config: RunConfig
    prepared: Prepared
    shards: Shards
    steps: list[Step]

    @classmethod
    def of(
        cls, config: RunConfig, count: int, data: Path, progress: Progress = silent
    ) -> "Workload":
        """The first `count` steps, by the loader that training uses."""
        if count < 1:
            raise UsageError(f"a benchmark needs a batch or more, got {count}")
        prepared = prepare(config.problem_name, config.problem, data, progress)
        if set(prepared.features) != {"inputs", "targets"}:
            raise UsageError(
                f"bench train measures problems with inputs and targets, and {config.problem_name} "
                f"has: {', '.join(prepared.features)}"
            )
        shards, training = prepared.split(TRAIN), config.preset.training
        loader = Loader(
            shards,
            prepared.features,
            config.preset.batch,
            seed=training.seed,
            parts=training.parts,
        )
        with closing(cast("Generator[Step]", loader.steps())) as steps:
            return cls(config, prepared, shards, list(islice(steps, count)))

    @property
    def examples(self) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """The numbers of its sentences, in the order of the steps."""
        return np.array([i for s in self.steps for part in s.parts for i in part.examples])

    @property
    def targets(self) -> int:
        """Real target tokens."""
        return sum(step.targets for step in self.steps)

    @property
    def size(self) -> int:
        """Of the vocabulary that targets are chosen from."""
        return self.prepared.tokenizer("targets").size

    def flops(self) -> float | None:
        """Operations that training on all of it takes; None where there is no formula."""
        model = self.config.preset.model
        if not flops.countable(model):
            return None
        assert isinstance(model, TransformerConfig)
        sides = (self.shards.lengths[name][self.examples] for name in ("inputs", "targets"))
        return flops.training(model, self.size, *sides)

    def own(self, device: torch.device) -> list[Step]:
        """The steps as ours takes them, on the device."""
        return [
            Step([p.to(device) for p in s.parts], s.cursor, s.tokens, s.slots, s.targets)
            for s in self.steps
        ]

    def padded(self, device: torch.device, multiple: int) -> list[Step]:
        """The same sentences, one a row, those of like length together, under the same budget of
        slots; lengths are padded up to a multiple. Where ours are padded too, they are the same."""
        if isinstance(self.config.preset.batch, Bucketed):
            return self.own(device)
        names = self.prepared.features
        lengths = [self.shards.lengths[name] for name in names]
        made = []
        for part in buckets.cut(lengths, self.examples, self.config.preset.batch.tokens, multiple):
            rows = {}
            for name, sheet in zip(names, assemble(self.shards, names, part), strict=True):
                ids, positions, segments = torch.from_numpy(sheet).long().to(device).unbind(0)
                rows[name] = Rows(ids, Layout(positions, segments))
            tokens = [int(side[part.examples].sum()) for side in lengths]
            batch = Batch(rows, tuple(part.examples.tolist()))
            made.append(Step([batch], Cursor(), sum(tokens), part.slots, tokens[-1]))
        return made

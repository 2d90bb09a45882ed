"""The patient: a model that is about to be trained, with what trains it."""

import time
from collections.abc import Generator
from contextlib import closing
from typing import cast

import numpy as np
import torch

from heedful.config import vary
from heedful.data.batch import Batch
from heedful.data.batching import Packed
from heedful.data.loader import Loader, Step, evaluation_batches
from heedful.data.preparation import Prepared
from heedful.distributed.processes import Processes
from heedful.doctor.texts import Reader
from heedful.models.base import Model
from heedful.problems.base import TRAIN
from heedful.runs.config import RunConfig
from heedful.runs.loading import make_model
from heedful.training.step import TrainStep, mixed


class Patient:
    """As in training, but for one process and without `torch.compile`, which takes a minute."""

    def __init__(self, config: RunConfig, prepared: Prepared, device: torch.device) -> None:
        self.preset = vary(config.preset, {"training.compile": False})
        self.compiles = config.preset.training.compile
        self.prepared, self.device = prepared, device
        self.reader = Reader(prepared, config.problem_name)
        torch.manual_seed(mixed(self.preset.training.seed, 0, 0))
        self.model: Model = make_model(config, self.reader.tokenizers).to(device)
        self.model.train()
        self.step = TrainStep(self.model, self.preset, Processes(device))
        self.shards = prepared.split(TRAIN)
        self.number = 0

    def loader(self) -> Loader:
        """The batches of the plan, one a step."""
        features, seed = self.prepared.features, self.preset.training.seed
        return Loader(self.shards, features, self.preset.batch, seed=seed, parts=1)

    def steps(self) -> "closing[Generator[Step]]":
        return closing(cast("Generator[Step]", self.loader().steps()))

    def take(self, parts: list[Batch]) -> tuple[float, bool]:
        """One step of training: the seconds it took, and whether its loss is a number."""
        self.number += 1
        began = time.perf_counter()
        finite = bool(self.step(self.number, parts).finite.item())  # waits for the device
        return time.perf_counter() - began, finite

    def longest(self, tokens: int) -> Batch:
        """The batch that asks most of memory: under this budget, full of the longest examples."""
        batch = self._longest()
        width = max(rows.ids.shape[1] for rows in batch.sides.values())
        count = max(1, tokens // width)
        return Batch(
            {
                name: rows.select(torch.arange(count) % len(rows.ids))
                for name, rows in batch.features.items()
            }
        )

    def few(self, slots: int) -> Batch:
        """The first rows of the first batch: so many slots, or one row."""
        with self.steps() as steps:
            batch = next(steps).parts[0]
        width = max(rows.ids.shape[1] for rows in batch.sides.values())
        count = min(max(1, slots // max(1, width)), *(len(s.ids) for s in batch.sides.values()))
        rows = torch.arange(count)
        return Batch({name: side.select(rows) for name, side in batch.features.items()})

    def _longest(self) -> Batch:
        """The longest batch of the plan."""
        batching, features = self.preset.batch, self.prepared.features
        if isinstance(batching, Packed):  # all have one shape
            with self.steps() as steps:
                return next(steps).parts[0]
        larger = np.maximum.reduce([self.shards.lengths[name] for name in features])
        kept = self.loader().recipe.kept()
        order = kept[np.argsort(-larger[kept], kind="stable")]
        count = max(1, batching.tokens // int(larger[order[0]]))
        chosen = order[:count].tolist()
        return list(evaluation_batches(self.shards, features, batching.tokens, chosen))[-1]

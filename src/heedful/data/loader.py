"""The loader: training's batches in an order that (seed, epoch) alone decides.

The number of workers, of ranks, and the cursor one starts from change who makes a batch, never
which batch it is.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from heedful.data import buckets
from heedful.data.batch import WORDS, Batch, Rows, Shared
from heedful.data.batching import Batching
from heedful.data.crew import Crew
from heedful.data.parts import assemble
from heedful.data.recipe import Cursor, Made, Recipe
from heedful.data.shards import Indices, Ints, Shards
from heedful.errors import UsageError
from heedful.nn.layout import Layout

__all__ = ["Cursor", "Loader", "Step", "evaluation_batches"]

AHEAD = 4  # steps made before they are asked for


@dataclass(frozen=True, eq=False)
class Step:
    """The batches of one training step: this rank's share of them, and counts over all ranks."""

    parts: list[Batch]
    cursor: Cursor  # after it
    tokens: int  # real ones, over all features and all ranks
    slots: int  # the same, padding counted: tokens / slots is how full the batches are
    targets: int  # real tokens of the last feature, over all ranks


class Loader:
    """Endless training steps over a split.

    A step is `parts` consecutive parts of the plan, of which rank r takes each `world`th from r on.
    With `workers` 0 a thread of this process works ahead; else so many processes do.
    """

    def __init__(
        self,
        shards: Shards,
        features: tuple[str, ...],
        batching: Batching,
        *,
        seed: int,
        parts: int,
        rank: int = 0,
        world: int = 1,
        workers: int = 0,
    ) -> None:
        if workers < 0:
            raise UsageError(f"training.workers must be 0 or more, got {workers}")
        self.recipe = Recipe(shards, tuple(features), batching, seed, parts, rank, world)
        self.workers = workers
        self.dropped = len(shards) - len(self.recipe.kept())  # too long for batch.longest
        self.crew: Crew | None = None  # of the latest `steps`, while it lasts

    def steps(self, start: Cursor = Cursor()) -> Iterator[Step]:
        """Steps without end, from `start` on. Closing the iterator ends its thread and workers."""
        if not self.workers:
            yield from self._ahead(self.recipe.steps(start), stop=lambda: None)
            return
        crew = self.crew = Crew(self.recipe, self.workers)
        try:
            yield from self._ahead(crew.steps(start), stop=crew.close)
        finally:
            crew.hang_up()
            self.crew = None

    def _ahead(self, made: Iterator[Made], stop: Callable[[], None]) -> Iterator[Step]:
        """The same steps, made by a thread a few at a time before they are needed."""
        ready: queue.Queue[Step | BaseException] = queue.Queue(AHEAD)
        closing = threading.Event()

        def work() -> None:
            try:
                for step in made:
                    ready.put(_step(self.recipe.features, step))
                    if closing.is_set():
                        return
            except BaseException as error:  # handed to whoever waits for the step
                ready.put(error)

        thread = threading.Thread(target=work, name="heedful-loader", daemon=True)
        thread.start()
        try:
            while True:
                item = ready.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            closing.set()
            stop()
            while thread.is_alive():  # it may be waiting for room
                try:
                    ready.get(timeout=0.01)
                except queue.Empty:
                    continue
            thread.join()


def evaluation_batches(
    shards: Shards, features: tuple[str, ...], tokens: int, examples: Sequence[int] | None = None
) -> Iterator[Batch]:
    """A whole split (or these examples of it), padded, from short to long, under a budget of slots.

    Nothing is dropped: an example over the budget is a batch of its own. `Batch.examples` says
    which is which.
    """
    chosen: Indices = np.arange(len(shards)) if examples is None else np.array(examples, np.int64)
    lengths = [shards.lengths[name] for name in features]
    for part in buckets.cut(lengths, chosen, tokens):
        yield _batch(features, part.examples, assemble(shards, features, part))


def _step(features: tuple[str, ...], made: Made) -> Step:
    parts = [_batch(features, examples, sheets) for examples, sheets in made.parts]
    return Step(parts, made.cursor, made.tokens, made.slots, made.targets)


def _batch(features: tuple[str, ...], examples: Indices, sheets: list[Ints]) -> Batch:
    rows: dict[str, Rows] = {}
    named = (*features, WORDS)[: len(sheets)]
    for name, sheet in zip(named, sheets, strict=True):
        ids, positions, segments = torch.from_numpy(sheet).long().unbind(0)
        at = Layout(positions, segments).looked_at()
        rows[name] = (Shared if name == WORDS else Rows)(ids, at)
    return Batch(rows, tuple(examples.tolist()))

"""A step's work on a GPU, recorded once and replayed.

A small model's step is a thousand short kernels, and starting them from Python takes longer than
their work. Where every batch has one shape they are recorded as a CUDA graph, and a step is then a
few replays. What is computed is the same: the same kernels, dropout from the same seed.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from heedful.data.batch import Batch, Rows
from heedful.nn.layout import Filling, Layout
from heedful.nn.recording import recording

Result = TypeVar("Result")

PLAIN = 3  # batches of a shape that are computed before one is recorded: first calls choose kernels
MOST = 16  # shapes that are recorded; others stay plain


class Recorder:
    """The two halves of a step, `learn` from a part and `move` the weights, each replayed once it
    has been recorded. What they give is overwritten the next time."""

    def __init__(
        self,
        learn: Callable[[Batch, bool], Tensor],
        move: Callable[[], Tensor],
        device: torch.device,
    ) -> None:
        self._learn, self._move, self.device = learn, move, device
        self.pool = torch.cuda.graph_pool_handle()
        self.seen: Counter[object] = Counter()
        self.moulds: dict[object, tuple[Mould, Recorded[Tensor]]] = {}
        self.moved: Recorded[Tensor] | None = None
        self.moves = 0
        self.unable = ""  # why steps stay plain: what they do cannot be recorded

    def learn(self, part: Batch, first: bool) -> Tensor:
        kind = first, shape(part)
        self.seen[kind] += 1
        if kind not in self.moulds:
            full = len(self.moulds) == MOST
            if self.unable or full or self.seen[kind] <= PLAIN:
                return self._learn(part, first)
            mould = Mould(part, self.device)
            try:
                recorded = Recorded(lambda: self._learn(mould.batch(), first), self.pool)
                self.moulds[kind] = mould, recorded
            except RuntimeError as error:  # something in it waits for the device
                self.unable = str(error).strip().splitlines()[0]
                return self._learn(part, first)
        mould, recorded = self.moulds[kind]
        mould.pour(part)
        return recorded()

    def move(self) -> Tensor:
        self.moves += 1
        if self.moved is None:
            if self.unable or self.moves <= PLAIN:  # what failed may have left the pool recording
                return self._move()
            self.moved = Recorded(self._move, self.pool)
        return self.moved()


class Recorded(Generic[Result]):
    """What a function does on the device, recorded and replayed. Recording it does not do it."""

    def __init__(self, function: Callable[[], Result], pool: Any = None) -> None:
        self.graph = torch.cuda.CUDAGraph()
        with recording(self.graph, pool):
            self.result = function()

    def __call__(self) -> Result:
        self.graph.replay()
        return self.result


class Mould:
    """A batch that stays where it is on the device, for others of its shape to be poured into."""

    def __init__(self, batch: Batch, device: torch.device) -> None:
        self.examples = batch.examples
        self.filled = {name: _filled(rows) for name, rows in batch.features.items()}
        self.kinds = {name: type(rows) for name, rows in batch.features.items()}
        self.tensors = {
            name: tuple(tensor.to(device, copy=True) for tensor in _tensors(rows))
            for name, rows in batch.features.items()
        }

    def pour(self, batch: Batch) -> None:
        for name, rows in batch.features.items():
            for into, tensor in zip(self.tensors[name], _tensors(rows), strict=True):
                into.copy_(tensor, non_blocking=True)

    def batch(self) -> Batch:
        """What was poured in last; its masks are yet to be made."""
        return Batch(
            {
                name: self.kinds[name](ids, Layout(positions, segments, filled=self.filled[name]))
                for name, (ids, positions, segments) in self.tensors.items()
            },
            self.examples,
        )


def shape(batch: Batch) -> tuple[object, ...]:
    """What batches that fit the same mould have in common."""
    return tuple(
        (name, tuple(rows.ids.shape), _filled(rows)) for name, rows in batch.features.items()
    )


def _filled(rows: Rows) -> Filling:
    """How rows are filled; one without padding is recorded as if it had some."""
    filling = rows.at.filling
    return "padded" if filling == "full" else filling


def _tensors(rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
    return rows.ids, rows.at.positions, rows.at.segments

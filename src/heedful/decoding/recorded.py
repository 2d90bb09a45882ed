"""Steps of decoding on a GPU, recorded once and replayed.

A step is hundreds of short kernels, and starting them from Python takes longer than their work.
Over a memory that stays where it is (nn/slate.py) they are recorded as a CUDA graph, for each of a
few shapes: rows leave by halves, and sources and outputs get room in large steps. What is computed
is what the model computes: more room is padding.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.data.batch import Batch, Rows
from heedful.decoding.protocol import Decodable
from heedful.errors import UsageError
from heedful.nn.layout import Layout
from heedful.nn.memory import Memory
from heedful.nn.slate import Slate, lengths

SOURCE = 16  # room for a source is a whole number of these
OUTPUT = 32  # room for an output at first; when it is full there is twice as much
WHOLE = 16  # sources in a batch are a whole number of these, where there are more
FEWEST = 8  # rows, below which none leave
MOST = 12  # shapes that are kept; the one that was used longest ago goes


class Shape(NamedTuple):
    """What steps of one recording have in common."""

    rows: int
    sources: int
    source: int  # room for each
    output: int  # room for each


class Recorded:
    """A model as a search sees it, with its steps recorded. On a CPU they are only computed."""

    def __init__(self, model: Decodable) -> None:
        self.model = model
        self.tapes: OrderedDict[Shape, Tape] = OrderedDict()
        self.pool = torch.cuda.graph_pool_handle() if torch.cuda.is_available() else None

    def forget(self) -> None:
        """Give back the memory of all recordings."""
        self.tapes.clear()

    def start(self, batch: Batch) -> "Playing":
        roomy = Batch({name: roomier(r) for name, r in batch.features.items()}, batch.examples)
        rows, source = next(iter(roomy.features.values())).ids.shape
        return Playing(self.model.start(roomy), rows, source)

    def step(self, ids: Tensor, memory: Memory) -> Tensor:
        assert isinstance(memory, Playing)
        if not memory.is_regular or ids.shape[1] > 1:
            return self.model.step(ids, memory.as_it_is())
        shape = memory.shape()
        if shape not in self.tapes:
            self.tapes[shape] = Tape(self.model, memory.held, shape, self.pool)
            if len(self.tapes) > MOST:
                self.tapes.popitem(last=False)
        self.tapes.move_to_end(shape)
        return memory.play(self.tapes[shape], ids)


class Playing(Memory):
    """What one search remembers: a memory that grows, and from the second step on a tape's slate.

    Rows that are to be moved wait for the next step, which takes them along.
    """

    def __init__(self, held: Memory, rows: int, source: int) -> None:
        super().__init__()
        self.held = held
        self.stepped = False
        self.length = 0  # tokens on the slate
        self.rows, self.sources, self.source = rows, rows, source
        self.order: Tensor | None = None  # rows to be taken, in this order
        self.chosen: Tensor | None = None  # and sources

    @property
    def is_regular(self) -> bool:
        """Whether all its rooms are there, and each grows by one token a step."""
        if isinstance(self.held, Slate):
            return True
        return self.stepped and len(lengths(self.held)) < 2

    def reorder(self, rows: Tensor) -> None:
        self.order = rows if self.order is None else self.order[rows]
        self.rows = len(rows)

    def select_sources(self, rows: Tensor) -> None:
        self.chosen = rows if self.chosen is None else self.chosen[rows]
        self.sources = len(rows)

    def as_it_is(self) -> Memory:
        """The memory that grows, for a step that is not recorded."""
        if isinstance(self.held, Slate):
            raise UsageError("after a recorded step, tokens come one at a time")
        if self.chosen is not None:
            self.held.select_sources(self.chosen)
        if self.order is not None:
            self.held.reorder(self.order)
        self.order = self.chosen = None
        self.stepped = True
        return self.held

    def shape(self) -> Shape:
        """That of the next step."""
        if not isinstance(self.held, Slate):
            self.length = max(lengths(self.held), default=0)
        output = OUTPUT
        while output <= self.length:
            output *= 2
        return Shape(self.rows, self.sources, self.source, output)

    def play(self, tape: "Tape", ids: Tensor) -> Tensor:
        """Take one more token on a tape, which takes this memory over if it was elsewhere."""
        order = self.order
        if self.held is not tape.slate:
            tape.slate.load(self.held, self.length, order, self.chosen)
            self.held, order = tape.slate, None
        self.order = self.chosen = None
        self.length += 1
        return tape.play(ids, order)


class Tape:
    """A step over a slate, of one shape: computed the first time, then recorded and replayed. What
    it gives is overwritten the next time."""

    def __init__(self, model: Decodable, like: Memory, shape: Shape, pool: Any) -> None:
        self.model, self.pool = model, pool
        self.slate = Slate(like, shape.rows, shape.sources, shape.output)
        device = self.slate.place.device
        self.ids = torch.zeros(shape.rows, 1, dtype=torch.long, device=device)
        self.order = torch.zeros(shape.rows, dtype=torch.long, device=device)
        self.takes: dict[bool, tuple[torch.cuda.CUDAGraph, Tensor] | None] = {}

    def play(self, ids: Tensor, order: Tensor | None) -> Tensor:
        """The logits after these ids, of rows that are first put in this order."""
        self.ids.copy_(ids)
        if order is not None:
            self.order.copy_(order)
        moves = order is not None
        if not ids.is_cuda or moves not in self.takes:
            self.takes[moves] = None  # first calls choose kernels
            return self.step(moves)
        take = self.takes[moves] or self.record(moves)
        self.takes[moves] = take
        graph, logits = take
        graph.replay()
        return logits

    def step(self, moves: bool) -> Tensor:
        if moves:
            self.slate.reorder(self.order)
        logits = self.model.step(self.ids, self.slate)
        self.slate.advance()
        return logits

    def record(self, moves: bool) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            logits = self.step(moves)
        return graph, logits


def roomier(rows: Rows) -> Rows:
    """The same rows, with padding up to a length that others have too."""
    more = -rows.ids.shape[1] % SOURCE
    positions, segments = (F.pad(x, (0, more)) for x in (rows.at.positions, rows.at.segments))
    return Rows(F.pad(rows.ids, (0, more)), Layout(positions, segments))


def by_halves(done: Sequence[bool]) -> list[int] | None:
    """The rows that stay, half as many as there are (or a quarter, …) once no more are needed; rows
    that are done stay along for the number. None while all stay."""
    wanted = size = len(done)
    growing = done.count(False)
    while wanted > FEWEST and growing <= wanted // 2:
        wanted //= 2
    if wanted == size:
        return None
    over = [place for place, is_done in enumerate(done) if is_done]
    leaving = set(over[: size - wanted])
    return [place for place in range(size) if place not in leaving]

"""Steps of decoding on a GPU, recorded once and replayed.

A step is hundreds of short kernels, and starting them from Python takes longer than their work.
Over a memory that stays where it is (nn/slate.py) they are recorded as a CUDA graph, for each of a
few shapes: rows leave by quarters, and sources and outputs get room in large steps. What is
computed is what the model computes: more room is padding.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.data.batch import Batch, Rows
from heedful.decoding.protocol import Decodable
from heedful.errors import HeedfulError, UsageError
from heedful.nn.attention import Attention, attentions
from heedful.nn.kernels.step import in_a_line, say_slower, trusted
from heedful.nn.layout import Filling, Layout
from heedful.nn.memory import Memory
from heedful.nn.recording import recording
from heedful.nn.slate import Slate, lengths
from heedful.nn.watching import Looker, watched

SOURCE = 16  # least room for a source
OUTPUT = 64  # room for an output at first; when it is full there is twice as much
WHOLE = 16  # sources in a batch are a whole number of these, where there are more
FEWEST = 8  # rows, below which none leave
MOST = 32  # shapes that are kept, of several lengths; the one that was used longest ago goes


Recording = TypeVar("Recording")
Found = TypeVar("Found")


class Shape(NamedTuple):
    """What steps of one recording have in common."""

    rows: int
    sources: int
    source: int  # room for each
    output: int  # room for each


class Recorded:
    """A model as a search sees it, with its steps recorded. On a CPU they are only computed.

    Without `kernels`, all is computed as PyTorch does.
    """

    def __init__(self, model: Decodable, kernels: bool = True) -> None:
        self.model, self.kernels = model, kernels
        parts = list(attentions(model).values()) if isinstance(model, nn.Module) else []
        self.steady = all(part.pool is None for part in parts)  # else keys do not come one a step
        self.parts = parts
        modules = list(model.modules()) if isinstance(model, nn.Module) else []
        self.looking = [part for part in modules if isinstance(part, Looker)]
        self._held = [held for part in modules for held in (part._parameters, part._buffers)]
        self._weights: list[tuple[int, torch.dtype]] = []  # where they were when it was recorded
        self.tapes: OrderedDict[Hashable, Any] = OrderedDict()
        self.passages: dict[tuple[Hashable, Hashable], Any] = {}  # from one tape to another
        self.pool = torch.cuda.graph_pool_handle() if torch.cuda.is_available() else None

    def forget(self) -> None:
        """Give back the memory of all recordings."""
        self.tapes.clear()
        self.passages.clear()

    @property
    def watched(self) -> bool:
        """Whether somebody watches the model."""
        return any(map(watched, self.looking))

    def safely(self, search: Callable[[], Found]) -> Found:
        """What a search finds; where kernels fail it, what it finds without them."""
        tensors = (x for held in self._held for x in held.values() if x is not None)
        weights = [(x.data_ptr(), x.dtype) for x in tensors]
        if weights != self._weights:  # they were put elsewhere: nothing recorded would find them
            self.forget()
            self._weights = weights
        try:
            return search()
        except (HeedfulError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            if not self.kernels:
                raise
            say_slower(in_a_line(error))
        self.kernels = False
        self.forget()
        return search()

    def slate(self, like: Memory, shape: Shape) -> Slate:
        """A slate of this shape; rows are traced where a kernel can follow them."""
        traced = self.kernels and bool(self.parts) and all(map(_by_kernel, self.parts))
        return Slate(like, shape.rows, shape.sources, shape.output, traced=traced)

    def start(self, batch: Batch) -> "Playing":
        roomy = Batch({name: roomier(r) for name, r in batch.features.items()}, batch.examples)
        rows, source = next(iter(roomy.features.values())).ids.shape
        return Playing(self.model.start(roomy), rows, source)

    def step(self, ids: Tensor, memory: Memory) -> Tensor:
        assert isinstance(memory, Playing)
        if not (self.steady and memory.is_regular) or ids.shape[1] > 1:
            return self.model.step(ids, memory.as_it_is())
        shape = memory.shape()
        tape = self.tape(shape, lambda: Tape(self, memory.held, shape))
        return memory.play(tape, ids)

    def tape(self, key: Hashable, make: Callable[[], Recording]) -> Recording:
        """The one of this key, made if it is not there."""
        if key not in self.tapes:
            self.tapes[key] = make()
            if len(self.tapes) > MOST:
                gone, _ = self.tapes.popitem(last=False)
                self.passages = {ends: p for ends, p in self.passages.items() if gone not in ends}
        self.tapes.move_to_end(key)
        found: Recording = self.tapes[key]
        return found


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

    def shape(self, ahead: int = 1) -> Shape:
        """That of the next steps, so many of them."""
        if not isinstance(self.held, Slate):
            self.length = max(lengths(self.held), default=0)
        output = OUTPUT
        while output < self.length + ahead:
            output *= 2
        return Shape(self.rows, self.sources, self.source, output)

    def move(self, slate: Slate) -> Tensor | None:
        """To a slate, if it is elsewhere. The order in which its rows are yet to be put, if any."""
        if self.held is slate:
            order, self.order = self.order, None
            return order
        slate.load(self.held, self.length, self.order, self.chosen)
        self.moved(slate)
        return None

    def moved(self, slate: Slate) -> None:
        """It is there now, and its rows are in order."""
        self.held, self.order, self.chosen = slate, None, None

    def play(self, tape: "Tape", ids: Tensor) -> Tensor:
        """Take one more token on a tape."""
        order = self.move(tape.slate)
        self.length += 1
        return tape.play(ids, order)


class Tape:
    """A step over a slate, of one shape. What it gives is overwritten the next time."""

    def __init__(self, recorded: Recorded, like: Memory, shape: Shape) -> None:
        self.model = recorded.model
        self.slate = recorded.slate(like, shape)
        device = self.slate.place.device
        self.ids = torch.zeros(shape.rows, 1, dtype=torch.long, device=device)
        self.order = torch.zeros(shape.rows, dtype=torch.long, device=device)
        self.staying = Take(self.step, device, recorded.pool)
        self.moving = Take(self.moved_step, device, recorded.pool)

    def play(self, ids: Tensor, order: Tensor | None) -> Tensor:
        """The logits after these ids, of rows that are first put in this order."""
        self.ids.copy_(ids)
        if order is None:
            return self.staying()
        self.order.copy_(order)
        return self.moving()

    def step(self) -> Tensor:
        self.slate.forget()
        logits = self.model.step(self.ids, self.slate)
        self.slate.advance()
        return logits

    def moved_step(self) -> Tensor:
        self.slate.reorder(self.order)
        return self.step()


class Take:
    """Work on tensors that stay where they are: done the first time, since first calls choose
    kernels, then recorded and replayed. On a CPU it is done each time."""

    def __init__(self, work: Callable[[], Any], device: torch.device, pool: Any) -> None:
        self.work, self.pool = work, pool
        self.calls = 0 if device.type == "cuda" else -math.inf
        self.graph: torch.cuda.CUDAGraph | None = None
        self.result: Any = None

    def __call__(self) -> Any:
        self.calls += 1
        if self.calls < 2:
            return self.work()
        if self.graph is None:
            graph = torch.cuda.CUDAGraph()
            try:
                with recording(graph, self.pool):
                    self.result = self.work()
            except RuntimeError as error:  # it cannot be recorded: then it is done each time
                self.calls = -math.inf
                say_slower(in_a_line(error))
                return self.work()
            self.graph = graph
        self.graph.replay()
        return self.result


def _by_kernel(part: Attention) -> bool:
    """Whether there is a kernel for steps of this attention."""
    return part.plain and trusted(part.to_out.weight, part.width, part.heads // part.kv_heads)


class Padding(NamedTuple):
    """How long rows become that get padding up to a length that others have too."""

    length: int
    filled: Filling | None


def padding(rows: Rows) -> Padding:
    """For these rows."""
    length = rows.ids.shape[1]
    room = source_room(length)
    filled = "padded" if room > length and rows.at.filled == "full" else rows.at.filled
    return Padding(room, filled)


def source_room(length: int) -> int:
    """16, 32, 48, 64, 96, 128, 192, 256, …: from 9 tokens on less than half of it is padding, and
    there are few of these to be recorded."""
    step = max(SOURCE, (1 << (length - 1).bit_length()) // 4)
    return length + -length % step


def roomier(rows: Rows) -> Rows:
    """The same rows, with padding up to a length that others have too."""
    length, filled = padding(rows)
    more = length - rows.ids.shape[1]
    positions, segments = (F.pad(x, (0, more)) for x in (rows.at.positions, rows.at.segments))
    return Rows(F.pad(rows.ids, (0, more)), Layout(positions, segments, filled=filled))


def by_quarters(done: Sequence[bool]) -> list[int] | None:
    """The rows that stay, a quarter of those there are (or a sixteenth, …) once no more are needed;
    rows that are done stay along for the number. None while all stay."""
    wanted = size = len(done)
    growing = done.count(False)
    while wanted // 4 >= FEWEST and growing <= wanted // 4:
        wanted //= 4
    if wanted == size:
        return None
    over = [place for place, is_done in enumerate(done) if is_done]
    leaving = set(over[: size - wanted])
    return [place for place in range(size) if place not in leaving]

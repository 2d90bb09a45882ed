"""A model: a body between the modalities of its problem.

A body knows vectors and layouts; it has `encode`, `decode` or both, and that decides what it can
be: a translator, a language model or a tagger. Each gives a loss, and can be asked for one token
after another, so every decoder serves every model. B batch, L length, D model, V vocabulary.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from heedful.config import Choice
from heedful.data.batch import Batch, Rows
from heedful.errors import UsageError
from heedful.modalities.spelling import Lookup, Table
from heedful.modalities.symbols import Embedding, Head
from heedful.nn.attention import Encoded
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss
from heedful.nn.memory import FORGET, Memory
from heedful.nn.slate import Slate
from heedful.text.specials import START


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Choice):
    """What every model's config has. `kind` is the name its body is registered by."""

    dim: int = 512
    tie: Literal["all", "targets", "none"] = "all"
    """Which embeddings are one matrix: source, target and softmax (where source and target share a
    vocabulary); target and softmax; or none."""
    words: Lookup = field(default_factory=Table)  # where the vector of a word that is read is from


@runtime_checkable
class Encodes(Protocol):
    def encode(self, x: Tensor, at: Layout) -> Encoded: ...


@runtime_checkable
class Decodes(Protocol):
    def decode(
        self, x: Tensor, at: Layout, source: Encoded | None, memory: Memory = FORGET
    ) -> Tensor: ...


# What is to be added to the sum of a loss. It may ask for -log p of each target, [B, L], which is
# computed only if asked for.
Penalty = Callable[[Callable[[], Tensor]], Tensor]


@runtime_checkable
class Penalises(Protocol):
    """A body whose loss has more to it than how likely the targets are: a regulariser, a reward."""

    def decode_with_penalty(
        self, x: Tensor, at: Layout, source: Encoded | None
    ) -> tuple[Tensor, Penalty]:
        """What `decode` gives of a whole, and what is to be added to the loss."""
        ...


class Model(nn.Module, ABC):
    """A body with its embeddings and its softmax."""

    body: Any  # encodes, decodes or both
    inputs: Any  # makes vectors of the source's ids, mostly an Embedding; None without a source
    longest: int | None = None  # positions the body has; None where there is no end to them

    def __init__(
        self,
        config: ModelConfig,
        body: nn.Module,
        inputs: nn.Module | None,
        targets: Embedding,
        head: Head,
    ) -> None:
        super().__init__()
        self.config = config
        self.body = body
        self.inputs = inputs
        self.targets = targets
        self.head = head
        self.penalises = isinstance(body, Penalises)

    @abstractmethod
    def hidden(self, batch: Batch) -> Float[Tensor, "B L D"]:
        """What the body makes of a batch with its targets known, before the softmax."""

    @abstractmethod
    def start(self, batch: Batch) -> Memory:
        """Read the source once."""

    @abstractmethod
    def step(self, ids: Int[Tensor, "B T"], memory: Memory) -> Float[Tensor, "B T V"]:
        """Take the ids that come next, give the scores of what may follow each."""

    def logits(self, batch: Batch) -> Float[Tensor, "B L V"]:
        return self.head(self.hidden(batch))

    def loss(self, batch: Batch) -> Loss:
        words = batch.words.ids if batch.words is not None else None
        return self.head.loss(self.hidden(batch), batch.targets.ids, batch.targets.at, words)

    def forward(self, batch: Batch) -> Loss:
        return self.loss(batch)


class EncoderDecoder(Model):
    """Reads a source, writes a target: encoder and decoder."""

    def encode(self, source: Rows) -> Encoded:
        assert self.inputs is not None
        return self.body.encode(self.inputs(source.ids), source.at)

    def hidden(self, batch: Batch) -> Float[Tensor, "B L D"]:
        shifted = self.targets(shift_right(batch.targets))
        return self.body.decode(shifted, batch.targets.at, self.encode(batch.inputs))

    def loss(self, batch: Batch) -> Loss:
        if not self.penalises:
            return super().loss(batch)
        ids, at = batch.targets.ids, batch.targets.at
        shifted = self.targets(shift_right(batch.targets))
        x, penalty = self.body.decode_with_penalty(shifted, at, self.encode(batch.inputs))
        loss = self.head.loss(x, ids, at)
        return loss._replace(sum=loss.sum + penalty(lambda: unlikeliness(self.head(x), ids, at)))

    def start(self, batch: Batch) -> Memory:
        memory = Memory()
        memory["source"].once(lambda: self.encode(batch.inputs))
        memory["at"].keep(batch.inputs.ids.new_zeros(len(batch.inputs.ids)))
        return memory

    def step(self, ids: Int[Tensor, "B T"], memory: Memory) -> Float[Tensor, "B T V"]:
        source = memory["source"].once(_never_started)
        at = following(ids, memory, self.longest)
        return self.head(
            self.body.decode(self.targets.step(ids, memory), at, source, memory["body"])
        )


class LanguageModel(Model):
    """Writes a target after what came before it: a decoder alone. A source, where there is one, is
    read as the beginning of the text; only the target is to be guessed."""

    def hidden(self, batch: Batch) -> Float[Tensor, "B L D"]:
        return self.read(batch, self.body.decode)

    def read(self, batch: Batch, decode: Callable[..., Tensor]) -> Float[Tensor, "B L D"]:
        """What `decode` makes of a batch."""
        targets = self.targets(shift_right(batch.targets))
        if self.inputs is None:
            return decode(targets, batch.targets.at, None)
        at = after(batch.inputs.at, batch.targets.at)
        x = torch.cat([self.inputs(batch.inputs.ids), targets], 1)
        return decode(x, at, None)[:, batch.inputs.ids.shape[1] :]

    def start(self, batch: Batch) -> Memory:
        memory = Memory()
        if self.inputs is None:
            some = next(iter(batch.features.values())).ids
            memory["at"].keep(some.new_zeros(len(some)))
            return memory
        source = batch.inputs
        self.body.decode(self.inputs(source.ids), source.at, None, memory["body"])
        memory["at"].keep(source.at.real.sum(1))
        return memory

    def step(self, ids: Int[Tensor, "B T"], memory: Memory) -> Float[Tensor, "B T V"]:
        at = following(ids, memory, self.longest)
        return self.head(self.body.decode(self.targets.step(ids, memory), at, None, memory["body"]))


class Tagger(Model):
    """Says one thing about each token of its source: an encoder alone. Targets are as long as
    inputs and stand beside them."""

    def hidden(self, batch: Batch) -> Float[Tensor, "B L D"]:
        assert self.inputs is not None
        if batch.inputs.ids.shape != batch.targets.ids.shape:
            raise UsageError(
                f"an encoder alone says one thing about each input token, but inputs are "
                f"{tuple(batch.inputs.ids.shape)} and targets {tuple(batch.targets.ids.shape)}. "
                "Use a model with a decoder for this problem"
            )
        return self.body.encode(self.inputs(batch.inputs.ids), batch.inputs.at).x

    def start(self, batch: Batch) -> Memory:
        assert self.inputs is not None
        memory, source = Memory(), batch.inputs
        encoded = self.body.encode(self.inputs(source.ids), source.at)
        memory["source"].once(lambda: encoded)
        memory["at"].keep(source.ids.new_zeros(len(source.ids)))
        return memory

    def step(self, ids: Int[Tensor, "B T"], memory: Memory) -> Float[Tensor, "B T V"]:
        source = memory["source"].once(_never_started)
        at = following(ids, memory, self.longest)
        x = source.spread(len(ids))
        there = at.positions.clamp(max=x.shape[1] - 1)[..., None].expand(-1, -1, x.shape[-1])
        return self.head(x.gather(1, there))


def shift_right(rows: Rows) -> Int[Tensor, "B L"]:
    """What a decoder is given to say each token: the one before, or `START` at the start."""
    before = rows.ids.roll(1, 1)
    return before.masked_fill(rows.at.positions == 0, START)


def unlikeliness(
    logits: Float[Tensor, "B L V"], ids: Int[Tensor, "B L"], at: Layout
) -> Float[Tensor, "B L"]:
    """-log p of each target; 0 where there is none."""
    nll = -logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    return nll.masked_fill(~at.real, 0.0)


def following(ids: Int[Tensor, "B T"], memory: Memory, longest: int | None = None) -> Layout:
    """The layout of the ids that come next, each row counting on from where it was.

    A row that has come to the last of the model's positions stays there: it is done, and only waits
    for the others.
    """
    begin, length = memory["at"].recall(_never_started), ids.shape[1]
    positions = begin[:, None]
    if length > 1:
        positions = positions + torch.arange(length, device=ids.device)
    memory["at"].keep(begin + length)
    start = None if isinstance(memory, Slate) else _in_common(begin)
    if longest is not None:
        positions = positions.clamp(max=longest - 1)
        start = start if start is not None and start + length <= longest else None
    return Layout(positions, _ones(positions, memory["at"]), filled="full", start=start)


def _in_common(places: Int[Tensor, " B"]) -> int | None:
    """The place that all rows have come to, if they have; asked on a CPU, where there is no
    waiting."""
    if places.device.type != "cpu" or torch.compiler.is_compiling() or not len(places):
        return None
    first = int(places[0])
    return first if bool((places == first).all()) else None


def _ones(like: Tensor, room: Memory) -> Tensor:
    """One sequence a row: where steps are recorded, made once."""
    if isinstance(room, Slate):
        return room.table(lambda _: torch.ones_like(like))
    return torch.ones_like(like)


def after(first: Layout, second: Layout) -> Layout:
    """Two layouts side by side, each sequence of the second going on where the first's ended."""
    most = int(max(first.positions.shape[1], second.positions.shape[1]))
    counts = first.segments.new_zeros(len(first.segments), most + 1)
    counts.scatter_add_(1, first.segments, torch.ones_like(first.segments))
    moved = second.positions + counts.gather(1, second.segments)
    several = first.several or second.several
    return Layout(
        torch.cat([first.positions, moved], 1),
        torch.cat([first.segments, second.segments], 1),
        filled="packed" if several else "single",
    )


def _never_started() -> Encoded:
    raise UsageError(
        "a model was asked for its next step before it was started: call start(batch) first"
    )

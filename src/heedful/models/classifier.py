"""A classifier: reads a text, or two, and says one label about it.

A label is a target of one symbol. What comes after it is the end and nothing else, so every decoder
serves a classifier too: the score of an output is the log-probability of its label.
B batch, L length of the source, T length of targets, D model, N labels, V labels and special ids.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.batch import Batch, Rows
from heedful.errors import UsageError
from heedful.modalities.symbols import Embedding, Head
from heedful.models.base import Model, ModelConfig, following
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss, Smoothing
from heedful.nn.memory import Memory
from heedful.text.base import Tokenizer
from heedful.text.labels import LabelTokenizer
from heedful.text.specials import EOS, RESERVED

NEVER = -1e9  # the score of what cannot come; a number, so that differences of it are numbers


@runtime_checkable
class SumsUp(Protocol):
    """A body that makes one vector of a text."""

    width: int  # of that vector

    def encode(self, x: Tensor, at: Layout) -> Any: ...

    def summary(self, encoded: Any, of: Layout) -> Tensor:
        """The vector of the text in the segment of each place of `of`, [B, T, D]."""
        ...


@runtime_checkable
class SumsUpTwo(Protocol):
    """A body that makes one vector of two texts."""

    width: int

    def encode_two(self, x: Tensor, first: Layout, second: Layout) -> Any:
        """Each layout has the other text's tokens as padding; positions count from 0 in both."""
        ...

    def summary(self, encoded: Any, of: Layout) -> Tensor: ...


class Classifier(Model):
    """Says one thing about a whole text: a body that sums it up, and a softmax over labels.

    There is no embedding of labels but the softmax's own, which has no special ids.
    """

    def encode(self, source: Rows) -> Any:
        assert self.inputs is not None
        return self.body.encode(self.inputs(source.ids), source.at)

    def hidden(self, batch: Batch) -> Float[Tensor, "B T D"]:
        return self.body.summary(self.encode(batch.inputs), batch.targets.at)

    def logits(self, batch: Batch) -> Float[Tensor, "B T V"]:
        return said(self.head(self.hidden(batch)), batch.targets.at)

    def loss(self, batch: Batch) -> Loss:
        """Of the labels alone: the end after them is no news."""
        at = batch.targets.at
        labels = (batch.targets.ids - RESERVED).clamp(min=0)
        first = Layout(at.positions, at.segments.masked_fill(at.positions > 0, 0))
        return self.head.loss(self.hidden(batch), labels, first)

    def start(self, batch: Batch) -> Memory:
        memory, ids = Memory(), batch.inputs.ids
        one = ids.new_ones(len(ids), 1)
        place = Layout(one - 1, one)
        memory["source"].once(lambda: self.body.summary(self.encode(batch.inputs), place))
        memory["at"].keep(ids.new_zeros(len(ids)))
        return memory

    def step(self, ids: Int[Tensor, "B T"], memory: Memory) -> Float[Tensor, "B T V"]:
        x: Tensor = memory["source"].once(_never_started)
        at = following(ids, memory)
        labels = self.head(x).repeat_interleave(len(ids) // len(x), 0)
        return said(labels.expand(-1, ids.shape[1], -1), at)


class PairClassifier(Classifier):
    """Says one thing about two texts, which stand in one source, each ended by the end symbol."""

    def encode(self, source: Rows) -> Any:
        assert self.inputs is not None
        return self.body.encode_two(self.inputs(source.ids), *apart(source.ids, source.at))


def classifier(
    config: ModelConfig,
    body: Any,
    vocabularies: Mapping[str, Tokenizer | int],
    loss: Smoothing,
) -> Classifier:
    """The classifier with this body, for texts and labels of these vocabularies."""
    if "inputs" not in vocabularies:
        raise UsageError(
            f"model '{config.kind}' says something about a text, and this problem has none to read"
        )
    of = vocabularies["targets"]
    if isinstance(of, Tokenizer) and not isinstance(of, LabelTokenizer):
        raise UsageError(
            f"model '{config.kind}' says one label about a text, and this problem's targets are "
            f"{of.kind}. Use a problem of labels, or a model with a decoder"
        )
    text = vocabularies["inputs"]
    reader = getattr(body, "reader", None)  # what it wants words to be read with
    inputs = reader(text) if reader else config.words.build(text, config.dim)
    labels = Embedding((of if isinstance(of, int) else of.size) - RESERVED, body.width)
    kind = PairClassifier if isinstance(body, SumsUpTwo) else Classifier
    model = kind(config, body, inputs, labels, Head(labels, loss))
    model.longest = getattr(body, "longest", None)
    return model


def said(labels: Float[Tensor, "B T N"], at: Layout) -> Float[Tensor, "B T V"]:
    """Scores of every symbol: a label in the first place, the end in any other."""
    special = labels.new_full((*labels.shape[:2], RESERVED), NEVER)
    first = torch.cat([special, labels], 2)
    later = labels.new_full(first.shape[2:], NEVER)
    later[EOS] = 0.0
    return torch.where((at.positions == 0)[..., None], first, later)


def apart(ids: Int[Tensor, "B L"], at: Layout) -> tuple[Layout, Layout]:
    """The layouts of two texts that stand in each segment, the first up to its end symbol.

    Each has the other's tokens as padding. Where there is no second, all of that is padding.
    """
    end = (ids == EOS).long()
    before = end.cumsum(1) - end  # end symbols before each token of the row
    here = torch.arange(ids.shape[1], device=ids.device)
    start = (here - at.positions).clamp(min=0)
    later = (before - before.gather(1, start)).clamp(max=1) * at.real
    counts = ids.new_zeros(len(ids), ids.shape[1] + 1)
    counts = counts.scatter_add(1, at.segments, 1 - later)
    positions = at.positions - later * counts.gather(1, at.segments)
    second, several = later > 0, at.several
    return (
        Layout(
            positions.masked_fill(second, 0),
            at.segments.masked_fill(second, 0),
            filled="packed" if several else "single" if at.filling == "single" else "padded",
        ),
        Layout(
            positions.masked_fill(~second, 0),
            at.segments.masked_fill(~second, 0),
            filled="packed" if several else "single",
        ),
    )


def _never_started() -> Tensor:
    raise UsageError(
        "a model was asked for its next step before it was started: call start(batch) first"
    )

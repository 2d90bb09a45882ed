"""ELMo: what two language models, one reading on and one reading back, remember of each word.

Peters, Neumann, Iyyer, Gardner, Clark, Lee and Zettlemoyer, "Deep Contextualized Word
Representations", NAACL 2018, https://arxiv.org/abs/1802.05365. The two share the embeddings and the
softmax, and no layer; what each layer puts out is added to by the layer above.
Departs from the paper: the loss is the mean of the two directions and not their sum, so that its
perplexity is a word's; cells are projected after a layer and not within it; the weights of the mix
have no penalty; words are embedded as any model's are (`words=characters` reads their spelling).
B batch, L length, D model.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.data.batch import Batch, Rows
from heedful.models.base import LanguageModel, Model, ModelConfig
from heedful.nn.attention import Encoded
from heedful.nn.cells import LSTM, Cell
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss
from heedful.nn.memory import FORGET, Memory
from heedful.nn.recurrent import Dropout, Recurrent, backwards, mirrored
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class ElmoConfig(ModelConfig, kind="elmo"):
    """The language model's numbers; the defaults are the paper's."""

    layers: int = 2  # of each direction
    hidden: int = 4_096  # units of a layer, which are projected to dim; 0 for dim
    cell: Cell = field(default_factory=LSTM)
    dropout: float = 0.1


class BothWays(LanguageModel):
    """Two language models: one says each word from all before it, one from all after it.

    It is trained as both, by the mean of their losses, and writes as the first.
    """

    def loss(self, batch: Batch) -> Loss:
        ahead = super().loss(batch)
        turned = Batch({name: about(rows) for name, rows in batch.features.items()})
        x = self.read(turned, self.body.decode_back)
        back = self.head.loss(x, turned.targets.ids, turned.targets.at)
        return Loss((ahead.sum + back.sum) / 2, ahead.weight, (ahead.nll + back.nll) / 2)


class Direction(nn.Module):
    """Recurrent layers, each but the first with what it reads added to what it puts out."""

    def __init__(self, dim: int, layers: int, hidden: int, cell: Cell, dropout: float) -> None:
        super().__init__()
        hidden = hidden or dim
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(Recurrent(cell, dim, hidden) for _ in range(layers))
        self.outer = nn.ModuleList(
            linear(hidden, dim) if hidden != dim else nn.Identity() for _ in range(layers)
        )

    def forward(
        self, x: Float[Tensor, "B L D"], at: Layout, memory: Memory = FORGET
    ) -> list[Float[Tensor, "B L D"]]:
        """What every layer puts out, the lowest first."""
        found: list[Tensor] = []
        for number, (layer, outer) in enumerate(zip(self.layers, self.outer, strict=True)):
            out, _ = layer(self.dropout(x), at, None, memory[number], ends=False)
            out = outer(out)
            x = x + out if number else out
            found.append(x)
        return found


@models.register("elmo")
class Elmo(nn.Module):
    """Two recurrent language models, one in each direction (Peters et al. 2018)."""

    joined: ClassVar[type[Model]] = BothWays

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__()
        c = config
        self.forwards = Direction(c.dim, c.layers, c.hidden, c.cell, c.dropout)
        self.backwards = Direction(c.dim, c.layers, c.hidden, c.cell, c.dropout)
        self.dropout = Dropout(c.dropout)

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None = None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        return self.dropout(self.forwards(x, at, memory)[-1])

    def decode_back(
        self, x: Float[Tensor, "B L D"], at: Layout, source: Encoded | None = None
    ) -> Float[Tensor, "B L D"]:
        return self.dropout(self.backwards(x, at)[-1])

    def layers(self, x: Float[Tensor, "B L D"], at: Layout) -> list[Float[Tensor, "B L D2"]]:
        """What is known of each word of whole texts, by layer: [x; x], then [forwards; backwards].

        Both directions have read the word itself, and all before or after it. The end symbol stands
        for the bound of the text, which is where both begin and which looks like nothing.
        """
        if not x.shape[1]:
            return [torch.cat([x, x], 2)] * (len(self.forwards.layers) + 1)
        turned = mirrored(at)
        here = torch.arange(x.shape[1], device=x.device).expand_as(turned)
        start = here - at.positions
        end = at.real & (turned == start)  # the last token: the bound
        x = x.masked_fill((end | ~at.real)[..., None], 0.0)
        # The bound first, then the words; so what has read a word stands one place further on.
        back_by_one = torch.where(at.positions == 0, turned, here - 1)
        on_by_one = torch.where(end, start, here + 1).clamp(max=x.shape[1] - 1)
        before = torch.where(at.real, back_by_one, here)
        after = torch.where(at.real, on_by_one, here)
        ahead = [_moved(y, after) for y in self.forwards(_moved(x, before), at)]
        back = [backwards(y, at) for y in self.backwards(backwards(x, at), at)]
        pairs = zip(ahead, back, strict=True)
        return [torch.cat([x, x], 2), *(torch.cat(pair, 2) for pair in pairs)]


class ScalarMix(nn.Module):
    """γ Σ softmax(s)ⱼ hⱼ: how much of each layer, learnt by whoever reads them (eq. 1)."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.shares = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: list[Float[Tensor, "B L D"]]) -> Float[Tensor, "B L D"]:
        shares = self.shares.softmax(0).unbind(0)
        mixed = sum(share * layer for share, layer in zip(shares, layers, strict=True))
        return self.scale * mixed


def about(rows: Rows) -> Rows:
    """The same texts with their words in the opposite order, the end symbol still at the end."""
    at = rows.at
    if not rows.ids.shape[1]:
        return rows
    turned = mirrored(at)
    here = torch.arange(rows.ids.shape[1], device=rows.ids.device).expand_as(turned)
    last = ~at.real | (turned == here - at.positions)
    return Rows(rows.ids.gather(1, torch.where(last, here, turned - 1)), at)


def _moved(x: Tensor, places: Tensor) -> Tensor:
    return x.gather(1, places[..., None].expand(-1, -1, x.shape[2]))

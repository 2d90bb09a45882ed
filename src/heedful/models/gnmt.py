"""GNMT: eight recurrent layers that read, eight that write, and one that looks.

Wu et al., "Google's Neural Machine Translation System: Bridging the Gap between Human and Machine
Translation", 2016, https://arxiv.org/abs/1609.08144. The first encoder layer reads both ways.
Residuals begin at the third layer. The bottom decoder layer looks at the source from its state at
the step before, and every layer reads what it saw; so the layers above need no loop.
Length normalisation, the coverage penalty and pruning are `decode.alpha`, `decode.coverage` and
`decode.prune`.
Departs from the paper: decoders begin by a bridge from the encoder (the paper does not say), and
weights begin as everywhere here. B batch, L length, D model, H hidden.
"""

from dataclasses import dataclass, field
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.models.base import ModelConfig
from heedful.nn.alignment import Alignment
from heedful.nn.attending import Attending
from heedful.nn.attention import Encoded
from heedful.nn.bridges import Bridge, Bridged
from heedful.nn.cells import LSTM, Cell
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.recurrent import Dropout, Recurrent
from heedful.nn.recurrent_encoder import RecurrentEncoder
from heedful.nn.scores import Additive, Score
from heedful.nn.states import Recalled
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class GNMTConfig(ModelConfig, kind="gnmt"):
    """GNMT's numbers."""

    dim: int = 1024
    tie: Literal["all", "targets", "none"] = "none"
    layers: int = 8  # of the encoder, and as many of the decoder
    hidden: int = 1024
    cell: Cell = field(default_factory=LSTM)
    score: Score = field(default_factory=Additive)
    residual_from: int = 3  # the first layer whose input is added to its output; 0 for none
    context: Literal["previous", "current"] = "previous"
    """What the layers above the bottom one read: what it saw before its step, as in the paper, or
    what it sees after it (tensorflow/nmt's gnmt_v2)."""
    bridge: Bridged = "linear"
    dropout: float = 0.2
    one_mask: bool = False  # drop the same units at every step of a row


@models.register("gnmt")
class GNMT(nn.Module):
    """Google's translation system of 2016."""

    def __init__(self, config: GNMTConfig) -> None:
        super().__init__()
        c = config
        if c.residual_from in (1, 2):
            raise UsageError(
                f"residual_from={c.residual_from}: the first two layers do not put out what could "
                "be added to what they read. Use 3 or more, or 0 for none"
            )
        if c.layers < 2:
            raise UsageError(f"GNMT has 2 layers or more, got layers={c.layers}")
        self.encoder = RecurrentEncoder(
            c.cell,
            c.dim,
            c.hidden,
            c.layers,
            "first_both",
            dropout=c.dropout,
            one_mask=c.one_mask,
            residual_from=c.residual_from,
        )
        width = self.encoder.widths[-1]
        self.context, self.residual_from = c.context, c.residual_from
        self.dropout = Dropout(c.dropout, c.one_mask)
        self.bottom = Attending(
            c.cell,
            c.dim,
            c.hidden,
            1,
            Alignment(c.score, c.hidden, width),
            query="previous",
            context=width,
            dropout=self.dropout,
        )
        self.upper = nn.ModuleList(
            Recurrent(c.cell, c.hidden + width, c.hidden) for _ in range(c.layers - 1)
        )
        states = c.cell.build(1, 1).states
        self.bridge = Bridge(c.bridge, self.encoder.widths, c.hidden, c.layers, states)
        self.to_out = linear(c.hidden, c.dim, bias=False) if c.hidden != c.dim else nn.Identity()

    def encode(self, x: Float[Tensor, "B L D"], at: Layout) -> Recalled:
        return self.encoder(x, at)

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        assert isinstance(source, Recalled)
        starts = memory["starts"].once(lambda: self.bridge(source.ends))
        first = None if starts is None else starts[:1]
        seen = self.bottom(self.dropout(x), at, source, first, memory=memory["bottom"])
        x, context = seen.out, seen.context
        if self.context == "current":
            context = self.bottom.alignment.look(x, at, source, memory["bottom"])
        for number, layer in enumerate(self.upper, start=1):
            start = None if starts is None else starts[number]
            read = torch.cat([self.dropout(x), context], -1)
            out, _ = layer(read, at, start, memory[number], ends=False)
            x = x + out if 0 < self.residual_from <= number + 1 else out
        return self.to_out(self.dropout(x))

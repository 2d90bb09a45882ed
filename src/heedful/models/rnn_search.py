"""RNN search: a recurrent decoder that looks at the source for each word it says.

Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate",
ICLR 2015, https://arxiv.org/abs/1409.0473 (`query="previous"`, `output="maxout"`), and Luong, Pham
and Manning, "Effective Approaches to Attention-based Neural Machine Translation", EMNLP 2015,
https://arxiv.org/abs/1508.04025 (`query="current"`, `output="tanh"`, `feed`). With
`output="linear"` it is Tensor2Tensor's `lstm_attention`, which is Luong's with another last layer;
there padding was looked at, here it is not.
Departs from the papers: between the last layer and the softmax stands a linear map to the width of
the embeddings, and weights begin as everywhere here. B batch, L length, D model, H hidden.
"""

from dataclasses import dataclass, field
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.models.base import ModelConfig
from heedful.nn.alignment import Alignment
from heedful.nn.attending import Attending, Query
from heedful.nn.attention import Encoded
from heedful.nn.bridges import Bridge, Bridged
from heedful.nn.cells import GRU, Cell
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.maxout import Maxout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.recurrent import Dropout, RecurrentStack
from heedful.nn.recurrent_encoder import Reading, RecurrentEncoder
from heedful.nn.scores import Additive, Score
from heedful.nn.states import Recalled
from heedful.nn.windows import Everywhere, Window
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class RNNSearchConfig(ModelConfig, kind="rnn_search"):
    """RNN search's numbers; the defaults are Bahdanau's."""

    dim: int = 620
    tie: Literal["all", "targets", "none"] = "none"
    hidden: int = 1000  # units of a decoder's layer
    encoder_hidden: int = 0  # units of an encoder's layer, each way; 0 for as many
    layers: int = 1
    encoder_layers: int = 0  # 0 for as many as the decoder has
    cell: Cell = field(default_factory=lambda: GRU(reset="before", update="renew"))
    reading: Reading = "both"  # forward, backward, both, first_both
    bridge: Bridged = "backward"  # same, linear, backward, none
    query: Query = "previous"  # the decoder's state that looks: before a step, or after it
    feed: bool = False  # let each step read what the last made of state and context
    score: Score = field(default_factory=Additive)
    window: Window = field(default_factory=Everywhere)
    coverage: bool = False  # let the score see what has been looked at already
    output: Literal["maxout", "tanh", "linear"] = "maxout"
    """What words are said from: maxout of state, context and the word before; or tanh of a linear
    function of state and context, or that function."""
    maxout: int = 500  # units of maxout
    dropout: float = 0.0  # before each layer and after the last
    one_mask: bool = False  # drop the same units at every step of a row


@models.register("rnn_search")
class RNNSearch(nn.Module):
    """Encoder and decoder of recurrent layers with attention between them."""

    def __init__(self, config: RNNSearchConfig) -> None:
        super().__init__()
        c = config
        check(c)
        self.encoder = RecurrentEncoder(
            c.cell,
            c.dim,
            c.encoder_hidden or c.hidden,
            c.encoder_layers or c.layers,
            c.reading,
            dropout=c.dropout,
            one_mask=c.one_mask,
        )
        width = self.encoder.widths[-1]
        alignment = Alignment(c.score, c.hidden, width, c.window, c.coverage)
        self.dropout = Dropout(c.dropout, c.one_mask)
        # Where no step needs what the last one saw, all layers run through before anybody looks.
        self.free = c.query == "current" and not c.feed and not alignment.stepwise
        self.decoder: RecurrentStack | Attending
        if self.free:
            self.alignment = alignment
            self.decoder = RecurrentStack(
                c.cell, c.dim, c.hidden, c.layers, dropout=c.dropout, one_mask=c.one_mask
            )
        else:
            self.decoder = Attending(
                c.cell,
                c.dim,
                c.hidden,
                c.layers,
                alignment,
                query=c.query,
                context=width,
                fed=c.hidden if c.feed else 0,
                dropout=self.dropout,
            )
        states = c.cell.build(1, 1).states
        self.bridge = Bridge(c.bridge, self.encoder.widths, c.hidden, c.layers, states)
        self.feed, self.query, self.output = c.feed, c.query, c.output
        if c.output == "maxout":
            self.maxout = Maxout(c.hidden + width + c.dim, c.maxout)
            self.to_out = linear(c.maxout, c.dim, bias=False)
        else:
            self.to_said = linear(c.hidden + width, c.hidden, bias=False)
            self.to_out = linear(c.hidden, c.dim, bias=False)

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
        said: Tensor | None = None
        if isinstance(self.decoder, RecurrentStack):
            out, _ = self.decoder(x, at, starts, memory, ends=False)
            context = self.alignment.look(out, at, source, memory)
        else:
            x = self.dropout(x)
            feed = self.say if self.feed else None
            seen = self.decoder(x, at, source, starts, feed, memory)
            out = seen.before if self.query == "previous" else seen.out
            context = seen.context
            said = seen.fed if self.feed else None
        if self.output == "maxout":
            said = self.maxout(torch.cat([out, context, x], -1))
        elif said is None:
            said = self.say(out, context)
        return self.to_out(self.dropout(said))

    def say(self, out: Tensor, context: Tensor) -> Tensor:
        """State and context in one: Luong's attentional vector, his equation 5."""
        said = self.to_said(torch.cat([context, out], -1))
        return said if self.output == "linear" else torch.tanh(said)


def check(c: RNNSearchConfig) -> None:
    """An error where the parts that were chosen do not go together."""
    if c.feed and c.query == "previous":
        raise UsageError(
            "with query=previous every step reads what was looked at already. "
            "Input feeding (feed=true) is for query=current"
        )
    if c.feed and c.output == "maxout":
        raise UsageError(
            "what is fed to the next step is a vector of state and context, and output=maxout has "
            "none. Use output=tanh or output=linear"
        )
    if c.bridge == "backward" and c.reading != "both":
        raise UsageError(
            f"bridge=backward needs an encoder that reads both ways, and reading is {c.reading}. "
            "Use bridge=linear, or reading=both"
        )

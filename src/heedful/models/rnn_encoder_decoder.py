"""Encoder and decoder of recurrent layers, with nothing between them but a state.

`rnn_encoder_decoder`: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder for
Statistical Machine Translation", EMNLP 2014, https://arxiv.org/abs/1406.1078: the source becomes
one vector, which the decoder sees at every step.
`seq2seq_lstm`: Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks",
NeurIPS 2014, https://arxiv.org/abs/1409.3215: deep LSTMs, the source read from its end, the
decoder's layers begin where the encoder's ended.
Departs from the papers: weights begin as everywhere here, recurrent ones orthogonal.
B batch, L length, D model, H hidden.
"""

from dataclasses import dataclass, field
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.models.base import ModelConfig
from heedful.nn.attention import Encoded
from heedful.nn.cells import GRU, LSTM, Cell, GRUGates
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.maxout import Maxout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.recurrent import Dropout, RecurrentStack, backwards, scan
from heedful.nn.recurrent_encoder import RecurrentEncoder
from heedful.nn.states import Recalled, of_tokens, spread
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class RNNEncoderDecoderConfig(ModelConfig, kind="rnn_encoder_decoder"):
    """Cho's numbers."""

    dim: int = 100
    tie: Literal["all", "targets", "none"] = "none"
    hidden: int = 1000
    maxout: int = 500  # units of the last layer but one
    dropout: float = 0.0  # of embeddings, and of what is put out
    one_mask: bool = False  # drop the same units at every step of a row


@dataclass(frozen=True, kw_only=True)
class Seq2SeqConfig(ModelConfig, kind="seq2seq_lstm"):
    """Sutskever's numbers."""

    dim: int = 1000
    tie: Literal["all", "targets", "none"] = "none"
    layers: int = 4
    hidden: int = 0  # units of a layer; 0 for dim
    cell: Cell = field(default_factory=LSTM)
    reading: Literal["forward", "backward"] = "backward"  # the way the source is read
    share: bool = False  # one network both reads and writes
    dropout: float = 0.0  # before each layer and after the last
    one_mask: bool = False  # drop the same units at every step of a row


@models.register("rnn_encoder_decoder")
class RNNEncoderDecoder(nn.Module):
    """One vector for a source, shown to the decoder at every step (Cho et al. 2014, appendix A)."""

    def __init__(self, config: RNNEncoderDecoderConfig) -> None:
        super().__init__()
        c = config
        self.encoder = RecurrentEncoder(
            GRU(reset="before"), c.dim, c.hidden, 1, dropout=c.dropout, one_mask=c.one_mask
        )
        self.to_summary = linear(c.hidden, c.hidden)  # V
        self.to_start = linear(c.hidden, c.hidden)  # V'
        # In the candidate the reset gate works on U'h + Cc, so that c is not simply an input.
        self.gates = GRUGates(c.dim + c.hidden, c.hidden)
        self.maxout = Maxout(2 * c.hidden + c.dim, c.maxout)
        self.to_out = linear(c.maxout, c.dim, bias=False)
        self.dropout = Dropout(c.dropout, c.one_mask)

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
        x = self.dropout(x)
        summary, seen = memory["summary"].once(lambda: self.summed_up(source))
        start = memory.recall(lambda: spread((torch.tanh(self.to_start(summary)),), len(x)))
        context, seen = of_tokens(spread((summary, seen), len(x)), at)
        two = 2 * self.gates.dim
        read = self.gates.project(x)
        read = torch.cat([read[..., :two] + seen[..., :two], read[..., two:]], -1)
        out, end = scan(self.gates, read, at, start, seen[..., two:])
        memory.keep(end)
        return self.to_out(self.dropout(self.maxout(torch.cat([out, x, context], 2))))

    def summed_up(self, source: Recalled) -> tuple[Tensor, Tensor]:
        """The context of each source, and what the decoder's gates make of it."""
        summary = torch.tanh(self.to_summary(source.ends[-1][0]))
        return summary, self.gates.project(summary, begin=self.gates.inside - self.gates.dim)


@models.register("seq2seq_lstm")
class Seq2Seq(nn.Module):
    """Deep recurrent layers read, as many write, and only states pass from one to the other."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        c = config
        hidden = c.hidden or c.dim
        self.reading = c.reading

        def stack() -> RecurrentStack:
            return RecurrentStack(
                c.cell, c.dim, hidden, c.layers, dropout=c.dropout, one_mask=c.one_mask
            )

        self.writer = stack()
        self.reader = None if c.share else stack()
        self.dropout = Dropout(c.dropout, c.one_mask)
        self.to_out = linear(hidden, c.dim, bias=False) if hidden != c.dim else nn.Identity()

    def encode(self, x: Float[Tensor, "B L D"], at: Layout) -> Recalled:
        if self.reading == "backward":
            x = backwards(x, at)
        out, ends = (self.reader or self.writer)(x, at)
        return Recalled(backwards(out, at) if self.reading == "backward" else out, at, ends)

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        assert isinstance(source, Recalled)
        x, _ = self.writer(x, at, source.ends, memory, ends=False)
        return self.to_out(self.dropout(x))

"""A recurrent decoder with attention, written by hand on PyTorch: a loop over `nn.LSTMCell` or
`nn.GRUCell` that looks at the source at every step.

B batch, S source, H hidden.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.models.rnn_search import RNNSearchConfig
from heedful.nn.cells import LSTM
from heedful.nn.scores import Additive, General
from heedful.nn.windows import Everywhere
from heedful.peers.torch_transformer import Said
from heedful.peers.torch_words import Words, library

State = tuple[Tensor, ...]  # h of a GRU; h and c of an LSTM


class TorchSearch(nn.Module):
    """Bahdanau's order (`query=previous`) or Luong's with input feeding."""

    def __init__(self, shape: RNNSearchConfig, size: int) -> None:
        super().__init__()
        c = self.shape = shape
        _check(c)
        both, layers = c.reading == "both", c.encoder_layers or c.layers
        inner = c.encoder_hidden or c.hidden
        width = 2 * inner if both else inner
        self.words = Words(c, size)
        self.encoder = library(c.cell)(
            c.dim,
            inner,
            layers,
            batch_first=True,
            dropout=c.dropout if layers > 1 else 0.0,
            bidirectional=both,
        )
        read = c.dim + (width if c.query == "previous" else 0) + (c.hidden if c.feed else 0)
        cell = nn.LSTMCell if isinstance(c.cell, LSTM) else nn.GRUCell
        self.cells = nn.ModuleList(
            cell(c.hidden if number else read, c.hidden) for number in range(c.layers)
        )
        self.states = 2 if isinstance(c.cell, LSTM) else 1
        made = inner if c.bridge == "backward" else width
        self.bridges = nn.ModuleList(
            nn.Linear(made, c.hidden)
            for _ in range(c.layers * self.states if c.bridge in ("linear", "backward") else 0)
        )
        additive = isinstance(c.score, Additive)
        self.to_q = nn.Linear(c.hidden, c.hidden, bias=False) if additive else None
        self.to_k = nn.Linear(width, c.hidden, bias=False)
        self.v = nn.Linear(c.hidden, 1, bias=False) if additive else None
        if c.output == "maxout":
            self.maxout = nn.Linear(c.hidden + width + c.dim, 2 * c.maxout)
            self.to_out = nn.Linear(c.maxout, c.dim, bias=False)
        else:
            self.to_said = nn.Linear(c.hidden + width, c.hidden, bias=False)
            self.to_out = nn.Linear(c.hidden, c.dim, bias=False)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        decoder_input_ids: Tensor,
        use_cache: bool = False,
    ) -> Said:
        c = self.shape
        back = c.reading == "backward"
        read = self.words.read(input_ids.flip(1) if back else input_ids, c.dropout)
        values, ends = self.encoder(read)
        values = values.flip(1) if back else values
        keys, hidden = self.to_k(values), attention_mask == 0
        states = self.begin(ends if isinstance(ends, tuple) else (ends,), len(read))
        x = self.words.written(decoder_input_ids, c.dropout)
        fed = x.new_zeros(len(x), c.hidden)
        made = []
        for word in x.unbind(1):
            top, parts = states[-1][0], [word]
            if c.query == "previous":
                context = self.look(top, keys, values, hidden)
                parts.append(context)
            if c.feed:
                parts.append(fed)
            states = self.up(torch.cat(parts, -1), states)
            if c.query == "current":
                top = states[-1][0]
                context = self.look(top, keys, values, hidden)
            fed = self.say(top, context, word)
            made.append(fed)
        out = F.dropout(torch.stack(made, 1), c.dropout, self.training)
        return self.words.said(self.to_out(out))

    def begin(self, ends: State, rows: int) -> list[State]:
        """What the layers begin with."""
        c = self.shape
        if c.bridge == "none":
            zeros = ends[0].new_zeros(rows, c.hidden)
            return [(zeros,) * self.states for _ in self.cells]
        ways = 2 if c.reading == "both" else 1
        by_layer = [part.unflatten(0, (-1, ways)).transpose(1, 2) for part in ends]  # [N, B, W, H]
        if c.bridge == "same":
            parts = [part.flatten(2) for part in by_layer]
            return [tuple(part[number] for part in parts) for number in range(c.layers)]
        kept = [part[:, :, -1] if c.bridge == "backward" else part.flatten(2) for part in by_layer]
        found = []
        for number in range(c.layers):
            end = [part[min(number, len(part) - 1)] for part in kept]
            to = self.bridges[number * self.states : (number + 1) * self.states]
            found.append(tuple(torch.tanh(f(part)) for f, part in zip(to, end, strict=True)))
        return found

    def up(self, read: Tensor, states: list[State]) -> list[State]:
        """One step through all layers."""
        made: list[State] = []
        for number, (cell, state) in enumerate(zip(self.cells, states, strict=True)):
            below = F.dropout(made[-1][0], self.shape.dropout, self.training) if number else read
            made.append(cell(below, state) if self.states == 2 else (cell(below, state[0]),))
        return made

    def look(self, query: Tensor, keys: Tensor, values: Tensor, hidden: Tensor) -> Tensor:
        """What is seen from a state, [B, W]."""
        if self.to_q is not None and self.v is not None:
            score = self.v(torch.tanh(self.to_q(query)[:, None] + keys))[..., 0]
        else:
            score = (keys @ query[..., None])[..., 0]
        weights = score.masked_fill(hidden, float("-inf")).softmax(-1)
        return (weights[:, None] @ values)[:, 0]

    def say(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        if self.shape.output == "maxout":
            both = self.maxout(torch.cat([state, context, word], -1))
            return both.unflatten(-1, (-1, 2)).amax(-1)
        said: Tensor = self.to_said(torch.cat([context, state], -1))
        return said if self.shape.output == "linear" else torch.tanh(said)


def _check(c: RNNSearchConfig) -> None:
    plain = type(c.score) in (Additive, General) and not getattr(c.score, "width", 0)
    if not plain or not isinstance(c.window, Everywhere) or c.coverage:
        raise UsageError(
            "by hand it is written for score=additive and score=general over the whole source, got "
            f"score={c.score.kind}, window={c.window.kind}, coverage={str(c.coverage).lower()}"
        )
    if c.query == "current" and not c.feed:
        raise UsageError(
            "by hand it is written as a loop, and with query=current and feed=false none is "
            "needed. Measure with --set model.feed=true"
        )
    if c.reading == "first_both":
        raise UsageError("by hand it reads forward, backward or both, got reading=first_both")

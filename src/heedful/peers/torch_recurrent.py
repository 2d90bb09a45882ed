"""Recurrent encoder-decoders written directly on PyTorch's `nn.LSTM` and `nn.GRU`, in our shapes.

They are as its users write them: batches are padded, and padding is read like words; where a source
is read from its end, before them. B batch, S source, T target, D model, H hidden.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.models.base import ModelConfig
from heedful.models.gnmt import GNMTConfig
from heedful.models.rnn_encoder_decoder import RNNEncoderDecoderConfig, Seq2SeqConfig
from heedful.models.rnn_search import RNNSearchConfig
from heedful.nn.cells import GRU, Cell
from heedful.peers.torch_search import TorchSearch
from heedful.peers.torch_transformer import Said
from heedful.peers.torch_words import Words, library

# What stays different when shape, data and optimiser are the same.
DIFFERENCES = (
    "two biases a gate",
    "padding is read like words",
    "its GRU's reset gate comes after the product, also for Cho's model",
    "units are dropped anew at every step",
)


class TorchSeq2Seq(nn.Module):
    """One network reads, another writes, and a state passes between them (Sutskever)."""

    def __init__(self, shape: Seq2SeqConfig, size: int) -> None:
        super().__init__()
        c, hidden = shape, shape.hidden or shape.dim
        self.backward, self.dropout = c.reading == "backward", c.dropout
        self.words = Words(c, size)
        self.reader, self.writer = (
            library(c.cell)(c.dim, hidden, c.layers, batch_first=True, dropout=_between(c))
            for _ in range(2)
        )
        self.to_out = nn.Linear(hidden, c.dim, bias=False) if hidden != c.dim else nn.Identity()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        decoder_input_ids: Tensor,
        use_cache: bool = False,
    ) -> Said:
        read = input_ids.flip(1) if self.backward else input_ids
        _, state = self.reader(self.words.read(read, self.dropout))
        out, _ = self.writer(self.words.written(decoder_input_ids, self.dropout), state)
        return self.words.said(self.to_out(F.dropout(out, self.dropout, self.training)))


class TorchSummary(nn.Module):
    """One vector for a source, shown to the writer at every step (Cho)."""

    def __init__(self, shape: RNNEncoderDecoderConfig, size: int) -> None:
        super().__init__()
        c = shape
        self.dropout = c.dropout
        self.words = Words(c, size)
        self.reader = nn.GRU(c.dim, c.hidden, batch_first=True)
        self.writer = nn.GRU(c.dim + c.hidden, c.hidden, batch_first=True)
        self.to_summary = nn.Linear(c.hidden, c.hidden)
        self.to_start = nn.Linear(c.hidden, c.hidden)
        self.maxout = nn.Linear(2 * c.hidden + c.dim, 2 * c.maxout)
        self.to_out = nn.Linear(c.maxout, c.dim, bias=False)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        decoder_input_ids: Tensor,
        use_cache: bool = False,
    ) -> Said:
        _, end = self.reader(self.words.read(input_ids, self.dropout))
        summary = torch.tanh(self.to_summary(end))  # [1, B, H]
        x = self.words.written(decoder_input_ids, self.dropout)
        context = summary[0, :, None].expand(-1, x.shape[1], -1)
        out, _ = self.writer(torch.cat([x, context], -1), torch.tanh(self.to_start(summary)))
        made = self.maxout(torch.cat([out, x, context], -1)).unflatten(-1, (-1, 2)).amax(-1)
        return self.words.said(self.to_out(F.dropout(made, self.dropout, self.training)))


KINDS = (Seq2SeqConfig.kind, RNNEncoderDecoderConfig.kind, RNNSearchConfig.kind)
RECURRENT = (*KINDS, GNMTConfig.kind)  # that want one sentence a row, written by hand or not


def build(shape: ModelConfig, size: int) -> nn.Module:
    """A new one with the layers, widths, cells and dropouts of a recurrent model of ours, for one
    vocabulary of `size` ids."""
    if isinstance(shape, RNNEncoderDecoderConfig):
        return TorchSummary(shape, size)
    if isinstance(shape, Seq2SeqConfig):
        _check(shape.cell)
        if shape.share:
            raise UsageError("beside nn.LSTM stand two networks, got share=true")
        return TorchSeq2Seq(shape, size)
    if isinstance(shape, RNNSearchConfig):
        _check(shape.cell)
        return TorchSearch(shape, size)
    raise UsageError(
        f"nothing on nn.LSTM is written for a model '{shape.kind}'. Measure it beside: "
        f"{', '.join(KINDS)}"
    )


def _check(cell: Cell) -> None:
    if isinstance(cell, GRU) and cell != GRU():
        raise UsageError(
            f"nn.GRU has reset=after and update=keep, got reset={cell.reset} and "
            f"update={cell.update}. Measure with --set model.cell=gru"
        )


def _between(c: Seq2SeqConfig) -> float:
    """Dropout between layers: PyTorch warns of it where there is one."""
    return c.dropout if c.layers > 1 else 0.0

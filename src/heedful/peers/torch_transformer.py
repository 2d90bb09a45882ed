"""PyTorch's own Transformer, `torch.nn.Transformer`, in the shape of ours.

What its documentation leaves to the user is as in ours: sinusoids, embeddings multiplied by √dim
and shared with the softmax, dropout of embeddings. B batch, S source, T target, V vocabulary.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.models.base import ModelConfig
from heedful.models.transformer import TransformerConfig
from heedful.nn.attention import AttentionConfig
from heedful.nn.positions import SIGNALS
from heedful.text.specials import PAD

POSITIONS = 1_024  # as many as there are; a longer row is an error

# What stays different when shape, data and optimiser are the same.
DIFFERENCES = (
    "biases in attention",
    "padded batches of like length under the same budget of slots, not packed rows",
)


class Said(NamedTuple):
    """What a model of `transformers` would give back, so that one loop trains both."""

    logits: Tensor  # [B, T, V]


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` with embeddings and a softmax; asked as `transformers` is."""

    positions: Tensor

    def __init__(self, shape: TransformerConfig, size: int) -> None:
        super().__init__()
        c = shape
        self.dim, self.dropout = c.dim, c.dropout
        signal = SIGNALS[c.positions](torch.arange(POSITIONS), c.dim)
        self.register_buffer("positions", signal, persistent=False)
        self.embedding = nn.Embedding(size, c.dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=c.dim**-0.5)
        with torch.no_grad():
            self.embedding.weight[PAD] = 0  # what a decoder starts from
        before = c.norm == "pre"
        layer = nn.TransformerEncoderLayer(
            c.dim, c.heads, c.ff, c.dropout, batch_first=True, norm_first=before
        )
        encoder = nn.TransformerEncoder(
            layer,
            c.layers,
            nn.LayerNorm(c.dim) if before else None,
            enable_nested_tensor=False,  # of no use in training
        )
        self.body = nn.Transformer(
            c.dim,
            c.heads,
            c.layers,
            c.decoder_layers or c.layers,
            c.ff,
            c.dropout,
            custom_encoder=encoder,
            batch_first=True,
            norm_first=before,
        )
        if not before:
            self.body.decoder.norm = None  # the last layer's norm is the last one
        for part in self.body.modules():
            if isinstance(part, nn.MultiheadAttention):
                part.dropout = c.attention_dropout
            elif isinstance(part, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
                part.dropout.p = c.relu_dropout  # the one inside its feed-forward part

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        decoder_input_ids: Tensor,
        use_cache: bool = False,
    ) -> Said:
        hidden = attention_mask == 0  # here True is what may not be seen
        length, device = decoder_input_ids.shape[1], decoder_input_ids.device
        future = nn.Transformer.generate_square_subsequent_mask(length, device=device)
        out = self.body(
            self.embed(input_ids),
            self.embed(decoder_input_ids),
            tgt_mask=future,
            tgt_is_causal=True,
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
        )
        return Said(F.linear(out, self.embedding.weight))

    def embed(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) * self.dim**0.5
        x = x + self.positions[: ids.shape[1]].to(x.dtype)
        return F.dropout(x, self.dropout, self.training)


def build(shape: ModelConfig, size: int) -> TorchTransformer:
    """A new one with the layers, widths, heads, dropouts and norms of a Transformer of ours, for
    one vocabulary of `size` ids."""
    if not isinstance(shape, TransformerConfig) or shape.kind != TransformerConfig.kind:
        raise UsageError(
            f"torch.nn.Transformer has an encoder and a decoder, got a model '{shape.kind}'. "
            f"Measure it beside: {TransformerConfig.kind}"
        )
    usual = AttentionConfig(kernel=shape.attention.kernel)
    if shape.tie != "all" or shape.attention != usual or shape.positions not in SIGNALS:
        raise UsageError(
            "beside torch.nn.Transformer stands a model with one embedding, sinusoids and plain "
            f"attention, got tie={shape.tie}, positions={shape.positions}, {shape.attention}"
        )
    return TorchTransformer(shape, size)

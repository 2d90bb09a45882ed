"""Hugging Face's Marian: the Transformer of another library, in the shape of ours.

Junczys-Dowmunt et al., "Marian: Fast Neural Machine Translation in C++", ACL 2018,
https://arxiv.org/abs/1804.00344, as `transformers` has it in PyTorch. That library is optional, and
imported only when it is used.
"""

import importlib
from typing import Any

from torch import nn

from heedful.errors import HeedfulError, UsageError
from heedful.models.base import ModelConfig
from heedful.models.transformer import TransformerConfig
from heedful.nn.attention import AttentionConfig
from heedful.text.specials import EOS, PAD, START

POSITIONS = 512  # as its published models have; a longer source is cut
KINDS = (TransformerConfig.kind,)

# What stays different when shape, data, seconds, schedule and search are the same.
DIFFERENCES = (
    "norms after each part (Marian knows no other), so none at the end of a stack",
    "biases in attention",
    "all first weights drawn from N(0, 1/dim), as our embeddings are",
    "padded batches of like length under the same budget of slots, not packed rows",
    "a length penalty of length ** alpha, not ((5 + length) / 6) ** alpha",
)


def library() -> Any:
    """The library, or an error that says how to get it."""
    try:
        return importlib.import_module("transformers")
    except ImportError as error:
        raise HeedfulError(
            "the peer is Hugging Face's Marian, and 'transformers' cannot be imported "
            f"({error}). Install it: pip install 'heedful[bench]'"
        ) from error


def version() -> str:
    """Which one it is, as a record says it."""
    return f"transformers {library().__version__}"


def build(shape: ModelConfig, size: int) -> nn.Module:
    """A new `MarianMTModel` with the layers, widths, heads, dropouts and tied embeddings of a
    Transformer of ours, for one vocabulary of `size` ids.

    Positions are sinusoids that are not learnt, embeddings are multiplied by √dim, and the
    activation is a rectifier, as in ours. `DIFFERENCES` says what cannot be the same. First weights
    are as wide as ours: the library's default, 0.02, is meant for a width of 1,024, and narrow
    models that begin so small never come to look at their source.
    """
    theirs, shape = library(), fitting(shape)
    return theirs.MarianMTModel(
        theirs.MarianConfig(
            vocab_size=size,
            d_model=shape.dim,
            encoder_layers=shape.layers,
            decoder_layers=shape.decoder_layers or shape.layers,
            encoder_ffn_dim=shape.ff,
            decoder_ffn_dim=shape.ff,
            encoder_attention_heads=shape.heads,
            decoder_attention_heads=shape.heads,
            dropout=shape.dropout,
            attention_dropout=shape.attention_dropout,
            activation_dropout=shape.relu_dropout,
            activation_function="relu",
            scale_embedding=True,
            init_std=shape.dim**-0.5,
            max_position_embeddings=POSITIONS,
            pad_token_id=PAD,
            eos_token_id=EOS,
            forced_eos_token_id=EOS,
            decoder_start_token_id=START,
        )
    )


def fitting(shape: ModelConfig) -> TransformerConfig:
    """A shape that Marian can have, or an error that says why it cannot."""
    if not isinstance(shape, TransformerConfig) or shape.kind not in KINDS:
        raise UsageError(
            f"Marian has an encoder and a decoder of attention, got a model '{shape.kind}'. "
            f"Measure it beside: {', '.join(KINDS)}"
        )
    usual = AttentionConfig(kernel=shape.attention.kernel)
    sinusoids = shape.positions in ("sinusoid", "sinusoid_t2t")
    if shape.tie != "all" or shape.attention != usual or not sinusoids:
        raise UsageError(
            "Marian ties all embeddings, and has sinusoids and plain attention, got "
            f"tie={shape.tie}, positions={shape.positions}, {shape.attention}"
        )
    return shape

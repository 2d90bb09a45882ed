"""lucidrains' x-transformers, in the shape of ours. The library is optional, and imported only when
it is used. B batch, T target, V vocabulary."""

import importlib
from typing import Any

from torch import Tensor, nn

from heedful.errors import HeedfulError
from heedful.models.base import ModelConfig
from heedful.peers.marian import fitting
from heedful.peers.torch_transformer import Said

LONGEST = 512

# What stays different when shape, data and optimiser are the same.
DIFFERENCES = (
    "norms before each part",
    "learnt positions, GELU, and no dropout of what each part adds, only inside feed-forward parts "
    "and of embeddings",
    "padded batches of like length under the same budget of slots, not packed rows",
)


def library() -> Any:
    """The library, or an error that says how to get it."""
    try:
        return importlib.import_module("x_transformers")
    except ImportError as error:
        raise HeedfulError(
            f"the peer is x-transformers, which cannot be imported ({error}). "
            "Install it: pip install x-transformers"
        ) from error


class XTransformer(nn.Module):
    """An encoder and a decoder of x-transformers, asked as models of `transformers` are."""

    def __init__(self, shape: ModelConfig, size: int) -> None:
        super().__init__()
        theirs, c = library(), fitting(shape)
        usual: dict[str, Any] = {
            "dim": c.dim,
            "heads": c.heads,
            "attn_dim_head": c.dim // c.heads,
            "ff_mult": c.ff / c.dim,
            "attn_dropout": c.attention_dropout,
            "ff_dropout": c.dropout,
            "attn_flash": True,
        }
        outer: dict[str, Any] = {
            "num_tokens": size,
            "max_seq_len": LONGEST,
            "emb_dropout": c.dropout,
            "tie_embedding": True,
        }
        self.encoder = theirs.TransformerWrapper(
            attn_layers=theirs.Encoder(depth=c.layers, **usual), **outer
        )
        self.decoder = theirs.TransformerWrapper(
            attn_layers=theirs.Decoder(
                depth=c.decoder_layers or c.layers, cross_attend=True, **usual
            ),
            **outer,
        )
        self.decoder.token_emb = self.encoder.token_emb

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        decoder_input_ids: Tensor,
        use_cache: bool = False,
    ) -> Said:
        real = attention_mask.bool()
        source = self.encoder(input_ids, mask=real, return_embeddings=True)
        return Said(self.decoder(decoder_input_ids, context=source, context_mask=real))


def build(shape: ModelConfig, size: int) -> nn.Module:
    """A new one for one vocabulary of `size` ids."""
    return XTransformer(shape, size)

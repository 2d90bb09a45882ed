"""How many operations a Transformer needs for sentences: those of its definition, and real tokens
only, so that padding, recomputation and what a kernel skips do not count as work.

A multiplication and an addition are two. Looking up embeddings, norms, softmax and activations are
not counted, the projection to the vocabulary is, and attention is counted over all pairs of a
sentence, the future included. N sentences, S source tokens, T target tokens, d width.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from heedful.models.base import ModelConfig
from heedful.models.transformer import TransformerConfig
from heedful.nn.attention import AttentionConfig

TRAINING = 3  # the backward pass needs twice what the forward pass does

Lengths = npt.NDArray[np.integer] | Sequence[int]


def forward(config: TransformerConfig, size: int, sources: Lengths, targets: Lengths) -> float:
    """Operations of a forward pass over pairs of these lengths, their ends counted, with a
    vocabulary of `size` to choose targets from."""
    s, t = (np.asarray(side, dtype=np.float64) for side in (sources, targets))
    d, f = config.dim, config.ff
    encoder, decoder = config.layers, config.decoder_layers or config.layers
    reading = encoder * ((8 * d**2 + 4 * d * f) * s + 4 * d * s**2)
    writing = decoder * ((12 * d**2 + 4 * d * f) * t + 4 * d * t * (t + s) + 4 * d**2 * s)
    return float((reading + writing + 2 * d * size * t).sum())


def training(config: TransformerConfig, size: int, sources: Lengths, targets: Lengths) -> float:
    """Operations of a training step on these pairs."""
    return TRAINING * forward(config, size, sources, targets)


def countable(config: ModelConfig) -> bool:
    """Whether the formula is that of this model: an encoder-decoder with plain attention."""
    if not isinstance(config, TransformerConfig) or config.kind != TransformerConfig.kind:
        return False
    return config.attention == AttentionConfig(kernel=config.attention.kernel)

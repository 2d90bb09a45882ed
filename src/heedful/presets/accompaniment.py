"""Presets for accompanying a melody: an encoder reads it, a decoder writes all voices.

Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281. Both sides know
distances among their own notes, as `music_transformer_*` do. Sinusoids are there too, for nothing
else tells the decoder at which place of the melody it is.
"""

from heedful.config import vary
from heedful.models.transformer import TransformerConfig
from heedful.presets.base import Preset
from heedful.presets.music import lm_jsb, lm_motifs
from heedful.registry import presets


@presets.register("music_accompaniment_jsb")
def accompaniment_jsb() -> Preset:
    """For Bach's chorales: four layers of 256 that read the soprano, and four that write."""
    return _encoding(lm_jsb(), 512, layers=4)


@presets.register("music_accompaniment_canons")
def accompaniment_canons() -> Preset:
    """For canons: two layers of 128 that read the melody, and two that write."""
    return _encoding(lm_motifs(), 96, layers=2)


@presets.register("music_accompaniment_tiny")
def accompaniment_tiny() -> Preset:
    """For canons: two layers of 32 on each side, seconds on one core."""
    return vary(accompaniment_canons(), {"model.dim": 32, "model.ff": 64, "model.heads": 2})


def _encoding(other: Preset, count: int, layers: int) -> Preset:
    """A decoder's preset with an encoder before it, and vectors for so many distances."""
    alone = other.model
    assert isinstance(alone, TransformerConfig)
    return vary(
        other,
        {
            "model": TransformerConfig(
                layers=layers,
                dim=alone.dim,
                ff=alone.ff,
                heads=alone.heads,
                dropout=alone.dropout,
                attention_dropout=alone.attention_dropout,
            ),
            "model.attention.bias": f"skew:{count}",
        },
    )

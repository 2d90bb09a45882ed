"""Presets whose positions are relative: Tensor2Tensor's by its names, and the skewed ones."""

from heedful.config import vary
from heedful.presets.base import Preset
from heedful.presets.transformer import base, big, lm_base, lm_tiny, tiny
from heedful.registry import presets

# Tensor2Tensor's: clipped at 20, all heads with the same vectors, no other positions.
SHAW = {"model.positions": "none", "model.attention.bias": "shaw:20:1"}


@presets.register("transformer_relative")
def relative() -> Preset:
    """The base model with Shaw's relative positions in place of sinusoids."""
    return vary(base(), SHAW)


@presets.register("transformer_relative_big")
def relative_big() -> Preset:
    """The big model with Shaw's relative positions."""
    return vary(big(), SHAW)


@presets.register("transformer_relative_tiny")
def relative_tiny() -> Preset:
    """Two layers of 128 with Shaw's relative positions."""
    return vary(tiny(), SHAW)


@presets.register("transformer_lm_relative")
def lm_relative() -> Preset:
    """The base decoder alone with the Music Transformer's positions, which reach 512 back.

    Without dropout of attention's weights, so that the kernel for them can be used.
    """
    return skewed(vary(lm_base(), {"model.attention_dropout": 0.0}), 512)


@presets.register("transformer_lm_relative_tiny")
def lm_relative_tiny() -> Preset:
    """The tiny decoder alone with the Music Transformer's positions, which reach 64 back."""
    return skewed(vary(lm_tiny(), {"model.attention_dropout": 0.0}), 64)


def skewed(preset: Preset, count: int) -> Preset:
    """The same with vectors for so many distances, and nothing else to tell where a token is."""
    return vary(preset, {"model.positions": "none", "model.attention.bias": f"skew:{count}"})

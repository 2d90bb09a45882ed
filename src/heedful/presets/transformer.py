"""The Transformer's presets: Tensor2Tensor's by its names, the paper's by `_paper`."""

from heedful.config import vary
from heedful.data.batching import Bucketed, Packed
from heedful.models.transformer import (
    TransformerConfig,
    TransformerEncoderConfig,
    TransformerLMConfig,
)
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Cosine, Noam, Rsqrt
from heedful.presets.base import Decode, Preset, Training
from heedful.registry import presets


@presets.register("transformer_base_paper")
def base_paper() -> Preset:
    """The paper's base model: norms after, 25,000 tokens a side and step, warm-up of 4,000."""
    return Preset(
        model=TransformerConfig(dim=512, heads=8, ff=2048, layers=6, norm="post", dropout=0.1),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Noam(scale=1.0, warmup=4_000),
        batch=Packed(tokens=25_600, row=256, longest=256),
        decode=Decode(beam=4, alpha=0.6, extra_length=50),
        training=Training(steps=100_000, average=5, keep_last=5),
    )


@presets.register("transformer_big_paper")
def big_paper() -> Preset:
    """The paper's big model: twice as wide, dropout 0.3, three times as long."""
    return vary(
        base_paper(),
        {
            "model.dim": 1024,
            "model.heads": 16,
            "model.ff": 4096,
            "model.dropout": 0.3,
            "training.steps": 300_000,
            "training.average": 20,
            "training.keep_last": 20,
        },
    )


@presets.register("transformer_base")
def base() -> Preset:
    """Tensor2Tensor's base model (transformer_base_v3): norms before, more dropout."""
    return Preset(
        model=TransformerConfig(
            dim=512,
            heads=8,
            ff=2048,
            layers=6,
            norm="pre",
            positions="sinusoid_t2t",
            dropout=0.1,
            attention_dropout=0.1,
            relu_dropout=0.1,
        ),
        optim=Adam(betas=(0.9, 0.997), eps=1e-9),
        schedule=Noam(scale=2.0, warmup=8_000),
        batch=Packed(tokens=4_096, row=256, longest=256),
        decode=Decode(beam=4, alpha=0.6, extra_length=50),
        training=Training(steps=250_000),
    )


@presets.register("transformer_big")
def big() -> Preset:
    """Tensor2Tensor's big model: twice as wide as base, dropout 0.3, 2,048 tokens a batch."""
    return vary(
        base(),
        {
            "model.dim": 1024,
            "model.heads": 16,
            "model.ff": 4096,
            "model.dropout": 0.3,
            "batch.tokens": 2_048,
        },
    )


@presets.register("transformer_base_single_gpu")
def base_single_gpu() -> Preset:
    """The base model for one GPU: small batches, and so a longer warm-up."""
    return vary(base(), {"batch.tokens": 1_024, "schedule": Rsqrt(scale=0.1, warmup=16_000)})


@presets.register("transformer_big_single_gpu")
def big_single_gpu() -> Preset:
    """The big model for one GPU: dropout 0.1 and a warm-up of 16,000."""
    return vary(big(), {"model.dropout": 0.1, "schedule.warmup": 16_000})


@presets.register("transformer_small")
def small() -> Preset:
    """Two layers of 256: for small data and quick looks."""
    return vary(base(), {"model.layers": 2, "model.dim": 256, "model.ff": 1024, "model.heads": 4})


@presets.register("transformer_tiny")
def tiny() -> Preset:
    """Two layers of 128: seconds on one core."""
    return vary(base(), {"model.layers": 2, "model.dim": 128, "model.ff": 512, "model.heads": 4})


@presets.register("transformer_algorithmic_tiny")
def algorithmic_tiny() -> Preset:
    """Two layers of 64: learns to reverse 40 bits in a minute on one core."""
    return Preset(
        model=TransformerConfig(layers=2, dim=64, ff=128, heads=4, dropout=0.0),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=5e-3, warmup=100, steps=1_500),
        batch=Packed(tokens=1_024, row=128, longest=128),
        decode=Decode(beam=1, extra_length=2),
        training=Training(steps=1_500, clip=1.0, evaluate_every=500),
    )


@presets.register("transformer_demo")
def demo() -> Preset:
    """What `heedful demo` trains: a small model, English to French in minutes on two CPU cores.

    No dropout: the grammar never runs out of new sentences, so there is nothing to overfit. Batches
    are small, because on a CPU a larger one takes as much longer as it is larger, and a high rate
    that falls to nothing makes the most of few steps.
    """
    return Preset(
        model=TransformerConfig(dim=128, heads=4, ff=512, layers=2, dropout=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=3e-3, warmup=200, steps=2_400),
        batch=Bucketed(tokens=1_024, longest=64),
        decode=Decode(beam=4, alpha=0.6, extra_length=20),
        training=Training(
            steps=2_400, clip=1.0, evaluate_every=600, checkpoint_every=100, average=5
        ),
    )


@presets.register("transformer_encoder_base")
def encoder_base() -> Preset:
    """The base model's encoder alone, for problems that ask one thing of each token."""
    return vary(base(), {"model": _as(TransformerEncoderConfig, base())})


@presets.register("transformer_encoder_tiny")
def encoder_tiny() -> Preset:
    """The tiny model's encoder alone."""
    return vary(tiny(), {"model": _as(TransformerEncoderConfig, tiny())})


@presets.register("transformer_lm_base")
def lm_base() -> Preset:
    """The base model's decoder alone, for language models."""
    return vary(base(), {"model": _as(TransformerLMConfig, base())})


@presets.register("transformer_lm_tiny")
def lm_tiny() -> Preset:
    """The tiny model's decoder alone."""
    return vary(tiny(), {"model": _as(TransformerLMConfig, tiny())})


def _as(kind: type[TransformerConfig], preset: Preset) -> TransformerConfig:
    """The same numbers for another of the family."""
    return kind(**vars(preset.model))

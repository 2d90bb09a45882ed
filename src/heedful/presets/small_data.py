"""Presets for little data: small models, much dropout, many epochs."""

from heedful.config import vary
from heedful.data.batching import Bucketed, Packed
from heedful.models.transformer import TransformerConfig, TransformerLMConfig
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Cosine
from heedful.presets.base import Decode, Preset, Training
from heedful.registry import presets


@presets.register("transformer_multi30k")
def multi30k() -> Preset:
    """For the 29,000 captions of Multi30k: four layers of 128, the shape of Wu et al.

    Wu, Kong, Bi, Li and Kao, "Good for Misconceived Reasons", ACL 2021,
    https://arxiv.org/abs/2105.14462. Theirs, in the paper or the recipe published with it: layers,
    widths, heads, dropout, smoothing, two times 4,096 tokens a step, 8,000 steps, a peak rate of
    0.005, a beam of 5, the mean of the last ten epochs' checkpoints. Ours, by what was best on the
    validation split: norms before each part, a cosine in place of 1/√step, dropout of attention's
    weights. A checkpoint comes every 50 steps, which is about an epoch.
    """
    return Preset(
        model=TransformerConfig(
            layers=4, dim=128, ff=256, heads=4, dropout=0.3, attention_dropout=0.1
        ),
        loss=Smoothing(amount=0.1, style="torch"),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=0.005, warmup=1_000, steps=8_000),
        batch=Packed(tokens=8_192, row=128, longest=128),
        decode=Decode(beam=5, alpha=1.0, extra_length=50),
        training=Training(
            steps=8_000,
            evaluate_every=1_000,
            checkpoint_every=50,
            keep_last=10,
            average=10,
        ),
    )


@presets.register("transformer_multi30k_cpu")
def multi30k_cpu() -> Preset:
    """Multi30k in a quarter of an hour on two CPU cores: three layers, little dropout for few
    epochs, small batches."""
    return vary(
        multi30k(),
        {
            "model.layers": 3,
            "model.ff": 512,
            "model.dropout": 0.1,
            "model.attention_dropout": 0.0,
            "schedule": Cosine(peak=4e-3, warmup=300, steps=2_400),
            "batch.tokens": 2_048,
            "training.steps": 2_400,
            "training.clip": 1.0,
            "training.evaluate_every": 1_000,
            "training.checkpoint_every": 100,
        },
    )


@presets.register("transformer_tatoeba")
def tatoeba() -> Preset:
    """For the 160,000 short sentences of Tatoeba, in ten minutes of one GPU: four layers of 256."""
    return Preset(
        model=TransformerConfig(
            layers=4, dim=256, ff=1_024, heads=4, dropout=0.2, attention_dropout=0.1
        ),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=2e-3, warmup=800, steps=12_000),
        batch=Packed(tokens=8_192, row=128, longest=128),
        decode=Decode(beam=4, alpha=0.6, extra_length=30),
        training=Training(
            steps=12_000,
            clip=1.0,
            evaluate_every=2_000,
            checkpoint_every=250,
            keep_last=5,
            average=5,
        ),
    )


@presets.register("transformer_lm_recall")
def lm_recall() -> Preset:
    """A decoder of two layers of 64 without dropout, for recalling what came far back."""
    return Preset(
        model=TransformerLMConfig(layers=2, dim=64, ff=128, heads=4, dropout=0.0),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=3e-3, warmup=100, steps=1_000),
        batch=Bucketed(tokens=4_096, longest=512),
        decode=Decode(beam=1, extra_length=2),
        training=Training(steps=1_000, clip=1.0, evaluate_every=500),
    )

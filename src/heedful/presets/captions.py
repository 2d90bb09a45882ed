"""Presets for captions of pictures. Budgets count pixels: a picture of 30 x 30 has 901 tokens."""

from heedful.config import vary
from heedful.data.batching import Bucketed
from heedful.modalities.pictures import CellsConfig
from heedful.models.caption_attend import CaptionAttendConfig
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Constant
from heedful.presets.base import Decode, Preset, Training
from heedful.registry import presets

# A source is as long as it has pixels. An output of 40 words and more would be no caption.
DECODE = Decode(beam=4, alpha=0.6, extra_length=40, longest_input=2**20, batch_tokens=2**19)


@presets.register("caption_attend_base")
def caption_attend_base() -> Preset:
    """Show, Attend and Tell for photographs of 64 x 64, with the authors' numbers but the width.

    Eight by eight cells, from four convolutions that are trained along.
    """
    return Preset(
        model=CaptionAttendConfig(
            dim=256,
            hidden=512,
            score=256,
            even=True,
            cells=CellsConfig(channels=(32, 64, 128), strides=(1, 2, 2), cell=2, dropout=0.1),
        ),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.999), eps=1e-8),
        schedule=Constant(peak=4e-4),
        batch=Bucketed(tokens=64 * (64 * 64 + 1), longest=64 * 64 + 1),
        decode=DECODE,
        training=Training(steps=20_000, clip=5.0, evaluate_every=1_000, checkpoint_every=1_000),
    )


@presets.register("caption_attend_hard")
def caption_attend_hard() -> Preset:
    """The same with hard attention, which draws the cell that it looks at."""
    return vary(caption_attend_base(), {"model.attend": "hard"})


@presets.register("caption_attend_flickr8k_1k")
def caption_attend_flickr8k_1k() -> Preset:
    """For the 800 photographs of 32 x 32 of flickr8k_1k: narrow, and with much dropout."""
    return vary(
        caption_attend_base(),
        {
            "model.dim": 128,
            "model.hidden": 256,
            "model.score": 128,
            "model.doubly": 0.5,
            "model.cells": CellsConfig(channels=(32, 64), strides=(1, 2), cell=2, dropout=0.2),
            "optim.weight_decay": 0.01,
            "schedule": Constant(peak=1e-3),
            "batch": Bucketed(tokens=64 * (32 * 32 + 1), longest=32 * 32 + 1),
            "training.steps": 1_200,
            "training.evaluate_every": 200,
            "training.evaluate_examples": 0,
            "training.checkpoint_every": 200,
        },
    )


@presets.register("caption_attend_shapes")
def caption_attend_shapes() -> Preset:
    """For caption_shapes: a 3x3 convolution of 32, 25 cells of 6 x 6 pixels, no regulariser.

    There are fewer words than cells, and two cells that matter: looking at all of them equally is
    the wrong thing to learn.
    """
    return Preset(
        model=CaptionAttendConfig(
            dim=48,
            hidden=64,
            score=64,
            dropout=0.0,
            doubly=0.0,
            cells=CellsConfig(channels=(32,), strides=(1,), cell=6),
        ),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.999), eps=1e-8),
        schedule=Constant(peak=2e-3),
        batch=Bucketed(tokens=64 * (30 * 30 + 1), longest=30 * 30 + 1),
        decode=vary(DECODE, {"beam": 1}),
        training=Training(steps=900, clip=5.0, evaluate_every=300, checkpoint_every=300),
    )


@presets.register("caption_attend_tiny")
def caption_attend_tiny() -> Preset:
    """An LSTM of 64 that attends: seconds on one core."""
    return Preset(
        model=CaptionAttendConfig(
            dim=64,
            hidden=64,
            score=32,
            dropout=0.1,
            doubly=0.1,
            even=True,
            cells=CellsConfig(channels=(8,), strides=(1,), cell=2),
        ),
        schedule=Constant(peak=2e-3),
        batch=Bucketed(tokens=4_096, longest=1_025),
        decode=DECODE,
        training=Training(steps=1_000, clip=5.0),
    )

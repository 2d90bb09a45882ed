"""Presets for music: Transformers with absolute and with relative positions, and Performance RNN.

`music_transformer_*` are the `transformer_lm_*` of the same name but for their positions, so that
the two can be compared. They know distances up to half of the length that they are trained on, as
in the paper; farther ones have no vector, which they meet in training too. Those for motifs see no
farther than that either: so beyond the trained length there is never more to choose from than
within it, and they go on as before.
"""

from heedful.config import vary
from heedful.data.batching import Bucketed, Packed
from heedful.models.recurrent_lm import RecurrentLMConfig
from heedful.models.transformer import TransformerLMConfig
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Cosine
from heedful.presets.base import Decode, Preset, Training
from heedful.presets.relative import skewed
from heedful.registry import presets


@presets.register("transformer_lm_jsb")
def lm_jsb() -> Preset:
    """For Bach's chorales: five layers of 256, windows of 1,024 notes, much dropout.

    Without dropout of attention's weights, so that the kernel for relative positions can be used.
    """
    return Preset(
        model=TransformerLMConfig(layers=5, dim=256, ff=1_024, heads=8, dropout=0.3),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=3e-3, warmup=600, steps=3_000),
        batch=Packed(tokens=16_400, row=1_025, longest=1_025),
        decode=Decode(beam=1),
        training=Training(steps=3_000, clip=1.0, evaluate_every=250, checkpoint_every=250),
    )


@presets.register("transformer_lm_performance")
def lm_performance() -> Preset:
    """For piano performances: six layers of 512, windows of 2,048 events."""
    return vary(
        lm_jsb(),
        {
            "model.layers": 6,
            "model.dim": 512,
            "model.dropout": 0.1,
            "schedule": Cosine(peak=6e-4, warmup=1_000, steps=20_000),
            "batch": Packed(tokens=32_768, row=2_048, longest=2_048),
            "training.steps": 20_000,
            "training.evaluate_every": 1_000,
            "training.checkpoint_every": 1_000,
        },
    )


@presets.register("transformer_lm_motifs")
def lm_motifs() -> Preset:
    """For motifs that return: two layers of 128 that see 96 events back, minutes on one core."""
    return vary(
        lm_jsb(),
        {
            "model.layers": 2,
            "model.dim": 128,
            "model.ff": 256,
            "model.heads": 4,
            "model.dropout": 0.0,
            "model.attention.pattern": "near:96",
            "schedule": Cosine(peak=2e-3, warmup=200, steps=2_000),
            "batch": Packed(tokens=4_053, row=193, longest=193),
            "training.steps": 2_000,
            "training.evaluate_every": 500,
            "training.checkpoint_every": 500,
        },
    )


@presets.register("music_transformer_jsb")
def music_transformer_jsb() -> Preset:
    """For Bach's chorales: a Transformer that knows distances between notes."""
    return skewed(lm_jsb(), 512)


@presets.register("music_transformer_performance")
def music_transformer_performance() -> Preset:
    """For piano performances: a Transformer that knows distances between events.

    Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281: six layers,
    windows of 2,048 events. Departs from it: vectors of 512 all through, norms before each part.
    """
    return skewed(lm_performance(), 1_024)


@presets.register("music_transformer_motifs")
def music_transformer_motifs() -> Preset:
    """For motifs that return: a Transformer that knows distances, minutes on one core."""
    return skewed(lm_motifs(), 96)


@presets.register("performance_rnn_piano")
def performance_rnn_piano() -> Preset:
    """For piano performances: Performance RNN, three LSTM layers of 512.

    Simon and Oore, "Performance RNN: Generating Music with Expressive Timing and Dynamics", 2017,
    https://magenta.tensorflow.org/performance-rnn: batches of 64 windows of 512 events, Adam at
    1e-3, gradients clipped at 3, no dropout. Departs from it: a table of vectors reads the events,
    which is a one-hot input and a linear layer; and the rate falls to nothing at the end. Windows
    of 512 are problem.piece=512.
    """
    return _recurrent(lm_performance(), RecurrentLMConfig(dim=512, layers=3, dropout=0.0), 1e-3)


@presets.register("performance_rnn_jsb")
def performance_rnn_jsb() -> Preset:
    """For Bach's chorales: Performance RNN, with as much dropout and as long windows as the
    Transformers have there."""
    return _recurrent(lm_jsb(), RecurrentLMConfig(dim=512, layers=3, dropout=0.3), 1e-3)


@presets.register("performance_rnn_motifs")
def performance_rnn_motifs() -> Preset:
    """For motifs that return: two LSTM layers of 128, minutes on one core."""
    return _recurrent(lm_motifs(), RecurrentLMConfig(dim=128, layers=2, dropout=0.0), 2e-3)


def _recurrent(other: Preset, model: RecurrentLMConfig, peak: float) -> Preset:
    """Another preset's data and steps for an LSTM, which learns by other numbers. A row holds one
    window, so that a library's kernel can take all of its steps."""
    return vary(
        other,
        {
            "model": vary(model, {"tie": "none"}),
            "optim": Adam(betas=(0.9, 0.999), eps=1e-8),
            "schedule.peak": peak,
            "schedule.warmup": 100,
            "batch": Bucketed(tokens=other.batch.tokens, longest=other.batch.limit),
            "training.clip": 3.0,
        },
    )

"""Presets for many words: large softmaxes, vectors of words, words by their spelling."""

from heedful.config import vary
from heedful.data.batching import Bucketed, Packed
from heedful.modalities.spelling import Characters
from heedful.models.recurrent_lm import RecurrentLMConfig
from heedful.models.skip_gram import SkipGramConfig
from heedful.models.transformer import TransformerLMConfig
from heedful.nn.contrast import Negatives
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Cosine
from heedful.presets.base import Decode, Preset, Training
from heedful.registry import presets


@presets.register("transformer_lm_words")
def lm_words() -> Preset:
    """A decoder of one layer of 256, whose softmax over many words is most of its work."""
    return Preset(
        model=TransformerLMConfig(layers=1, dim=256, ff=512, heads=4, dropout=0.0),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=2e-3, warmup=200, steps=3_000),
        batch=Packed(tokens=8_192, row=256, longest=256),
        decode=Decode(beam=1),
        training=Training(steps=3_000, clip=1.0, evaluate_every=1_000),
    )


@presets.register("transformer_lm_wikitext2")
def lm_wikitext2() -> Preset:
    """For WikiText-2's 33,000 words: two layers of 256, much dropout, lines of any length."""
    return vary(
        lm_words(),
        {
            "model.layers": 2,
            "model.ff": 1_024,
            "model.dropout": 0.3,
            "schedule": Cosine(peak=2e-3, warmup=400, steps=5_000),
            "batch.row": 1_024,
            "batch.longest": 1_024,
            "training.steps": 5_000,
        },
    )


@presets.register("word_lm_ptb")
def word_lm_ptb() -> Preset:
    """For the Penn Treebank: two LSTM layers, and a table for its words; Kim's small word model.

    Kim et al., "Character-Aware Neural Language Models", AAAI 2016,
    https://arxiv.org/abs/1508.06615. Departs from it: Adam with a cosine in place of SGD that is
    halved; pieces of 256 words, each met anew, in place of 35 after 35; and 230 units, not 200, so
    that it has no fewer weights than the one with characters.
    """
    return Preset(
        model=RecurrentLMConfig(dim=230, layers=2, dropout=0.5, tie="none"),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.99), eps=1e-8),
        schedule=Cosine(peak=3e-3, warmup=200, steps=9_000),
        batch=Bucketed(tokens=2_048, longest=256, multiple=64),
        decode=Decode(beam=1),
        training=Training(steps=9_000, clip=1.0, evaluate_every=460),
    )


@presets.register("char_cnn_lm_ptb")
def char_cnn_lm_ptb() -> Preset:
    """For the Penn Treebank: two LSTM layers over words by their spelling; Kim's small model."""
    return vary(
        word_lm_ptb(),
        {"model": RecurrentLMConfig(dim=300, layers=2, dropout=0.5, words=Characters())},
    )


@presets.register("char_cnn_lm_tiny")
def char_cnn_lm_tiny() -> Preset:
    """Words by their spelling, then two layers of 64: seconds on one core."""
    return vary(
        lm_words(),
        {
            "model.layers": 2,
            "model.dim": 64,
            "model.ff": 128,
            "model.words": Characters(size=8, widths=(1, 2, 3), filters=8),
            "schedule": Cosine(peak=5e-3, warmup=100, steps=1_200),
            "batch": Packed(tokens=1_024, row=128, longest=128),
            "training.steps": 1_200,
        },
    )


@presets.register("skip_gram_words")
def skip_gram_words() -> Preset:
    """Vectors of 128 for the words of any text, by five words to either side."""
    return Preset(
        model=SkipGramConfig(dim=128, window=5, rare=1e-4),
        loss=Negatives(samples=5, drawn=256),
        optim=Adam(betas=(0.9, 0.99), eps=1e-8),
        schedule=Cosine(peak=5e-3, warmup=100, steps=4_000),
        batch=Packed(tokens=16_384, row=1_024, longest=1_024),
        decode=Decode(beam=1),
        training=Training(steps=4_000, evaluate_every=2_000),
    )


@presets.register("skip_gram_topics")
def skip_gram_topics() -> Preset:
    """Vectors of 64 for the words of planted topics, in seconds on one core."""
    return vary(
        skip_gram_words(),
        {
            "model.dim": 64,
            "model.rare": 1e-3,
            "schedule": Cosine(peak=2e-2, warmup=20, steps=400),
            "batch": Packed(tokens=8_192, row=256, longest=256),
            "training.steps": 400,
            "training.evaluate_every": 0,
        },
    )

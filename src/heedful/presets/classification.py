"""Presets for saying what kind of text it is: classifiers, and what they begin from."""

from heedful.config import vary
from heedful.data.batching import Bucketed
from heedful.models.elmo import ElmoConfig
from heedful.models.text_classifier import ElmoWords, PairClassifierConfig, TextClassifierConfig
from heedful.models.transformer_classifier import TransformerClassifierConfig
from heedful.nn.losses import Smoothing
from heedful.optim.adam import Adam
from heedful.optim.schedules import Cosine
from heedful.presets.base import Decode, Preset, Training
from heedful.registry import presets

# A label is looked up, not searched for; its score is then its log-probability.
LABEL = Decode(beam=1, alpha=0.0, extra_length=2)
TINY = {
    "batch.tokens": 1_024,
    "schedule": Cosine(peak=2e-3, warmup=50, steps=600),
    "training.steps": 600,
    "training.evaluate_every": 200,
}
TINY_CLASSIFIER = {"model.dim": 32, "model.hidden": 16, "model.outer": 32, "model.dropout": 0.1}


@presets.register("transformer_classifier_base")
def transformer_classifier() -> Preset:
    """A Transformer's encoder, four layers of 256, that says one label about a text."""
    return Preset(
        model=TransformerClassifierConfig(
            layers=4, dim=256, ff=1_024, heads=4, dropout=0.1, attention_dropout=0.1
        ),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=5e-4, warmup=500, steps=8_000),
        batch=Bucketed(tokens=4_096, longest=256),
        decode=LABEL,
        training=Training(
            steps=8_000, clip=1.0, evaluate_every=500, evaluate_examples=0, checkpoint_every=500
        ),
    )


@presets.register("transformer_classifier_tiny")
def transformer_classifier_tiny() -> Preset:
    """The Transformer as a classifier, two layers of 64: seconds on one core."""
    return vary(
        transformer_classifier(),
        {**TINY, "model.layers": 2, "model.dim": 64, "model.ff": 128},
    )


@presets.register("elmo_base")
def elmo() -> Preset:
    """Two language models of two layers, on and back, for classifiers to begin from.

    A tenth of the paper's size (Peters et al. 2018), for some millions of words and ten minutes of
    a GPU.
    """
    return Preset(
        model=ElmoConfig(dim=256, layers=2, hidden=1_024, dropout=0.3),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=2e-3, warmup=400, steps=12_000),
        batch=Bucketed(tokens=4_096, longest=128),
        decode=Decode(beam=1, alpha=0.0, extra_length=50),
        training=Training(steps=12_000, clip=1.0, evaluate_every=2_000, checkpoint_every=2_000),
    )


@presets.register("elmo_tiny")
def elmo_tiny() -> Preset:
    """Two language models of two layers of 32: seconds on one core."""
    return vary(elmo(), {**TINY, "model.dim": 32, "model.hidden": 64, "model.dropout": 0.1})


@presets.register("text_classifier_base")
def text_classifier() -> Preset:
    """A BiLSTM with attention over its words, from scratch: two layers of 256 a direction."""
    return Preset(
        model=TextClassifierConfig(
            dim=256, layers=2, hidden=256, summary="attend", outer=256, dropout=0.4
        ),
        loss=Smoothing(amount=0.0),
        optim=Adam(betas=(0.9, 0.98), eps=1e-9),
        schedule=Cosine(peak=1e-3, warmup=200, steps=4_000),
        batch=Bucketed(tokens=2_048, longest=256),
        decode=LABEL,
        training=Training(
            steps=4_000, clip=1.0, evaluate_every=250, evaluate_examples=0, checkpoint_every=500
        ),
    )


@presets.register("text_classifier_glue")
def text_classifier_glue() -> Preset:
    """The GLUE baseline's size: two layers of 1,500 a direction, the largest of each channel."""
    return vary(
        text_classifier(),
        {
            "model.dim": 300,
            "model.hidden": 1_500,
            "model.summary": "max",
            "model.outer": 512,
            "model.dropout": 0.2,
        },
    )


@presets.register("text_classifier_tiny")
def text_classifier_tiny() -> Preset:
    """A BiLSTM classifier, two layers of 16 a direction: seconds on one core."""
    return vary(text_classifier(), {**TINY, **TINY_CLASSIFIER})


@presets.register("elmo_classifier")
def elmo_classifier() -> Preset:
    """The BiLSTM with attention over ELMo's features (`--init` a run of `elmo_base`)."""
    return vary(text_classifier(), {"model.features": ElmoWords(dim=256, layers=2, hidden=1_024)})


@presets.register("elmo_classifier_tiny")
def elmo_classifier_tiny() -> Preset:
    """The classifier with ELMo, as small as `elmo_tiny`; here the language model learns on."""
    features = ElmoWords(dim=32, layers=2, hidden=64, frozen=False)
    return vary(text_classifier_tiny(), {"model.features": features})


@presets.register("pair_classifier_base")
def pair_classifier() -> Preset:
    """Two texts, a BiLSTM over each and attention between them, from scratch."""
    return vary(text_classifier(), {"model": _as_pair(text_classifier())})


@presets.register("pair_classifier_tiny")
def pair_classifier_tiny() -> Preset:
    """The classifier of two texts, one layer of 16 a direction and one after attention."""
    one = vary(text_classifier_tiny(), {"model.layers": 1})
    return vary(one, {"model": _as_pair(one)})


@presets.register("elmo_pair_classifier")
def elmo_pair_classifier() -> Preset:
    """The classifier of two texts over ELMo's features (`--init` a run of `elmo_base`)."""
    return vary(elmo_classifier(), {"model": _as_pair(elmo_classifier())})


def _as_pair(preset: Preset) -> PairClassifierConfig:
    """The same numbers for two texts."""
    return PairClassifierConfig(**vars(preset.model))

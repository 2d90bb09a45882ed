"""Relative positions against sinusoids: in translation, and beyond the lengths trained on."""

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.several import Several
from heedful.claims.targets import AtLeast, AtMost, Beats
from heedful.claims.transformer import SMALL_TRANSLATION, TINY_ALGORITHMIC, TINY_MODEL

SHAW = {
    "authors": "Shaw, Uszkoreit and Vaswani",
    "title": "Self-Attention with Relative Position Representations",
    "venue": "NAACL 2018",
    "url": "https://arxiv.org/abs/1803.02155",
}
# Of the model; each is trained as often and as long as the other.
WAYS = {
    "relative": {"model.positions": "none", "model.attention.bias": "shaw:16"},
    "sinusoid": {"model.positions": "sinusoid"},
}
# For copying, attention to oneself is kept near, in both. In trials without that, or with twice as
# far, relative positions did not go on to longer copies either; perhaps since places can be counted
# from the ends, which is not tested. Chosen by the split valid_long, trained with another seed.
NEAR = {"model.attention.pattern": "near:4:4"}
COPIED = {
    "relative": {**NEAR, "model.positions": "none", "model.attention.bias": "shaw:4"},
    "sinusoid": {**NEAR, "model.positions": "sinusoid"},
}
LONG = Reading(name="long", split="test_long", metrics=("exact_match",), checkpoint="latest")


@claims.register("relative_attention_translation")
def relative_attention_translation() -> Claim:
    """Relative positions translate better than sinusoids, and hold at lengths never trained on."""
    return Claim(
        name="relative_attention_translation",
        system="Transformer with Shaw's relative positions, and beside it with sinusoids",
        paper=Paper(
            **SHAW,
            where="Table 1, base model, newstest2014",
            figure="26.8 BLEU English-German with relative positions, 26.5 with sinusoids",
        ),
        statement="Self-attention that knows distances in place of places translates better, and "
        "goes on to lengths it was not trained on.",
        task="multi30k_en_de, test 2016, cased sacreBLEU; and copy_longer: trained on up to 32 "
        "symbols, tested on 64, self-attention within 4 of oneself",
        targets=(
            Beats("relative/bleu", "sinusoid/bleu"),
            AtLeast("copy_relative/long_exact_match", 95.0),
            AtMost("copy_sinusoid/long_exact_match", 60.0),
        ),
        baselines=(
            Baseline(name="sinusoids", number="sinusoid/bleu"),
            Baseline(name="sinusoids, copying 64", number="copy_sinusoid/long_exact_match"),
        ),
        cost="6 trainings of about 4 minutes on a GPU, and 6 of one minute",
        measure=Several(parts=(TRAININGS, COPYING)),
    )


TRAININGS = Trainings(
    arms=tuple(
        Arm(
            name=name,
            problem="multi30k_en_de",
            preset="transformer_multi30k",
            settings=settings,
            readings=(Reading(metrics=("bleu",), checkpoint="average"),),
        )
        for name, settings in WAYS.items()
    ),
    budget=Budget(steps=5_000),
    small=SMALL_TRANSLATION,
)

COPYING = Trainings(
    arms=tuple(
        Arm(
            name=f"copy_{name}",
            problem="copy_longer",
            preset="transformer_algorithmic_tiny",
            settings=settings,
            readings=(Reading(metrics=("exact_match",), checkpoint="latest"), LONG),
        )
        for name, settings in COPIED.items()
    ),
    budget=Budget(steps=4_000),
    small=Small(settings={**TINY_MODEL, **TINY_ALGORITHMIC, "problem.eval_length": 40}),
)

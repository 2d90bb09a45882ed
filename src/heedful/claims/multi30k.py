"""The Transformer on Multi30k: 29,000 captions, and a small model that is tuned for so few."""

from heedful.claims.arms import Arm, Budget, Trainings
from heedful.claims.base import Claim, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast, AtMost
from heedful.claims.transformer import SMALL_TRANSLATION

WU = {
    "authors": "Wu, Kong, Bi, Li and Kao",
    "title": "Good for Misconceived Reasons: An Empirical Revisiting on the Need for Visual "
    "Context in Multimodal Machine Translation",
    "venue": "ACL 2021",
    "url": "https://arxiv.org/abs/2105.14462",
}
# Lower-cased and tokenised, as in the published recipe.
PUBLISHED = {"en_de": "bleu_multi30k", "en_fr": "bleu_multi30k_fr"}


def _arm(pair: str, preset: str) -> Arm:
    return Arm(
        name=pair,
        problem=f"multi30k_{pair}",
        preset=preset,
        readings=(Reading(metrics=(PUBLISHED[pair], "bleu"), checkpoint="average"),),
    )


@claims.register("transformer_multi30k")
def transformer_multi30k() -> Claim:
    """A Transformer of four layers of 128 reaches the published BLEU on Multi30k."""
    return Claim(
        name="transformer_multi30k",
        system="Transformer, four layers of 128",
        paper=Paper(
            **WU,
            where="the text-only Transformer-Tiny, Test2016",
            figure="41.02 BLEU English-German, 61.80 English-French",
        ),
        statement="On little data a small Transformer does as well as models that also see the "
        "pictures.",
        task="multi30k_en_de and multi30k_en_fr, test 2016: BLEU lower-cased and tokenised as "
        "published, and cased sacreBLEU beside it",
        targets=(AtLeast("en_de/bleu_multi30k", 41.0), AtLeast("en_fr/bleu_multi30k_fr", 61.8)),
        cost="5 minutes a language and seed on a GPU",
        measure=Trainings(
            arms=tuple(_arm(pair, "transformer_multi30k") for pair in PUBLISHED),
            budget=Budget(steps=8_000),
            small=SMALL_TRANSLATION,
        ),
    )


@claims.register("transformer_multi30k_cpu")
def transformer_multi30k_cpu() -> Claim:
    """Multi30k English-German is learnt in twenty minutes on two CPU cores."""
    return Claim(
        name="transformer_multi30k_cpu",
        system="Transformer, three layers of 128, for a CPU",
        paper=Paper(
            **WU,
            where="the text-only Transformer-Tiny, Test2016",
            figure="41.02 BLEU English-German, on two GPUs",
        ),
        statement="A model worth having can be trained on a laptop.",
        task="multi30k_en_de, test 2016, within twenty minutes on two cores",
        targets=(AtLeast("en_de/bleu_multi30k", 30.0), AtMost("en_de/seconds", 1_200.0)),
        cost="14 minutes on two CPU cores",
        measure=Trainings(
            arms=(_arm("en_de", "transformer_multi30k_cpu"),),
            budget=Budget(steps=2_400),
            seeds=(1,),
            small=SMALL_TRANSLATION,
        ),
    )

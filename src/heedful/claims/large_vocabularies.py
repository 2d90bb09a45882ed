"""Softmaxes over many words: what is left of time, memory and quality when only some are looked at.

The numbers of an arm are those of its training, and `memory_gb`: what a step's softmax, its loss
and gradient, takes at most beyond the weights. `times_faster`, `memory_share` and
`perplexity_ratio` are beside the full softmax of the same text.
"""

import math
from typing import Any

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Number, Numbers, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast, AtMost
from heedful.claims.transformer import TINY_MODEL
from heedful.claims.weighing import Softmax, weigh
from heedful.distributed.processes import pick_device
from heedful.problems.zipf import Zipf
from heedful.text.specials import RESERVED

WORDS = 100_000
REAL_WORDS = 33_280  # of WikiText-2, special ids counted
FULL, REAL_FULL, REAL_SAMPLED = "full", "wikitext2_full", "wikitext2_sampled"
# What is looked at in training instead of all words.
SOFTMAXES: dict[str, dict[str, Any]] = {
    FULL: {},
    "sampled": {"loss": "sampled", "loss.samples": 4_096},
    "buckets": {"loss": "buckets", "batch.words": 32_768},
    "contrast": {"loss": "contrast", "loss.drawn": 4_096},
    "adaptive": {"loss": "adaptive", "loss.cutoffs": (4_000, 20_000)},
}
BESIDE = {name: FULL for name in SOFTMAXES if name != FULL} | {REAL_SAMPLED: REAL_FULL}
USUAL = {"training.evaluate_every": 0, "training.checkpoint_every": 0}
SMALL_ZIPF = {
    "problem.symbols": 60,
    "problem.train_examples": 40,
    "problem.valid_examples": 2,
    "problem.test_examples": 2,
}


@claims.register("sampled_softmax")
def sampled_softmax() -> Claim:
    """A softmax over sampled words is several times faster, and as good as the full one."""
    return Claim(
        name="sampled_softmax",
        system="Transformer, a decoder of one layer of 256, with several softmaxes",
        paper=Paper(
            authors="Jean, Cho, Memisevic and Bengio",
            title="On Using Very Large Target Vocabulary for Neural Machine Translation",
            venue="ACL 2015",
            url="https://arxiv.org/abs/1412.2007",
            where="section 3 and Table 2",
            figure="a vocabulary of 500,000 words at the cost of 50,000, and better translations",
        ),
        statement="With sampling, a very large vocabulary costs no more than a small one, and is "
        "learnt as well.",
        task=f"zipf_lm with {WORDS:,} words: perplexity of the full softmax on unseen text, "
        "whatever was trained with; and wikitext2, which has fewer words, for the perplexity",
        targets=(
            AtLeast("sampled/times_faster", 3.0),
            AtMost("sampled/memory_share", 1 / 3),
            AtMost("sampled/perplexity_ratio", 1.05),
            AtMost(f"{REAL_SAMPLED}/perplexity_ratio", 1.05),
            AtMost("buckets/perplexity_ratio", 1.4),
            AtMost("adaptive/perplexity_ratio", 1.3),
        ),
        baselines=(
            Baseline(name="the full softmax", number="full/perplexity"),
            Baseline(name="the full softmax, wikitext2", number=f"{REAL_FULL}/perplexity"),
        ),
        cost="5 minutes on a GPU that does nothing else; memory is not counted on a CPU",
        measure=TRAININGS,
        alone=True,
    )


def weighed(arm: Arm, seed: int, context: Context) -> dict[str, float]:
    """What the softmax of an arm takes by itself."""
    config = TRAININGS.config(arm, seed, context.smoke)
    preset, problem = config.preset, config.problem
    size = problem.symbols + RESERVED if isinstance(problem, Zipf) else REAL_WORDS
    taken = weigh(
        Softmax(
            objective=preset.loss,
            tokens=preset.batch.tokens,
            dim=preset.model.dim,
            size=size,
            bucket=preset.batch.words,
        ),
        pick_device(context.device),
    )
    weight = math.nan if taken.gigabytes is None else taken.gigabytes
    return {"memory_gb": weight, "softmax_ms": 1_000 * taken.seconds}


def beside_full(numbers: Numbers) -> Numbers:
    """Each arm beside the full softmax of the same text."""
    found = {}
    for arm_name, full_name in BESIDE.items():
        for name, of in RATIOS.items():
            mine, full = (numbers.get(f"{who}/{of}") for who in (arm_name, full_name))
            if mine is not None and full is not None:
                both = mine.by_seed.keys() & full.by_seed.keys()
                found[f"{arm_name}/{name}"] = Number(
                    {seed: mine.by_seed[seed] / full.by_seed[seed] for seed in sorted(both)}
                )
    return found


RATIOS = {
    "times_faster": "tokens_per_second",
    "memory_share": "memory_gb",
    "perplexity_ratio": "perplexity",
}

READINGS = (Reading(metrics=("perplexity",), checkpoint="latest"),)
TRAININGS = Trainings(
    arms=(
        *(
            Arm(
                name=name,
                problem="zipf_lm",
                preset="transformer_lm_words",
                settings={
                    "problem.symbols": WORDS,
                    "problem.train_examples": 200_000,
                    **USUAL,
                    **settings,
                },
                readings=READINGS,
            )
            for name, settings in SOFTMAXES.items()
        ),
        *(
            Arm(
                name=name,
                problem="wikitext2",
                preset="transformer_lm_wikitext2",
                settings={**USUAL, **SOFTMAXES[like]},
                readings=READINGS,
            )
            for name, like in ((REAL_FULL, FULL), (REAL_SAMPLED, "sampled"))
        ),
    ),
    budget=Budget(steps=3_000),
    seeds=(1,),
    small=Small(
        problem="zipf_lm",
        settings={**TINY_MODEL, **SMALL_ZIPF, "batch.row": 64, "batch.tokens": 256},
    ),
    look=weighed,
    compare=beside_full,
)

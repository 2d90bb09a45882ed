"""How long the paper's own trainings would take on one GPU: projected from measured speed."""

import math
from dataclasses import replace

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Measured, Number, Paper, claims
from heedful.claims.targets import AtMost
from heedful.claims.transformer import ATTENTION, TINY_ALGORITHMIC, TINY_MODEL

# "Attention Is All You Need", sections 5.1 and 5.2: batches of about 25,000 target tokens, for
# 100,000 steps (base) and 300,000 (big); 12 hours and 3.5 days on eight P100.
TARGET_TOKENS = {"base": 25_000 * 100_000, "big": 25_000 * 300_000}
HOURS = {"base": 12.0, "big": 84.0}


@claims.register("single_gpu_wmt14")
def single_gpu_wmt14() -> Claim:
    """Hours that the paper's models take on one GPU, projected from tokens a second."""
    return Claim(
        name="single_gpu_wmt14",
        system="Transformer base and big, with the paper's numbers",
        paper=Paper(
            **ATTENTION,
            where="sections 5.1 and 5.2",
            figure="base 12 hours, big 3.5 days, on eight P100 GPUs",
        ),
        statement="The Transformer trains in a small part of the time that others take.",
        task="projected: speed over a few hundred steps on made-up sentences of 32,000 symbols, "
        "times the paper's number of target tokens. The real run: "
        "heedful train wmt14_en_de --preset transformer_base_paper --out runs/wmt14",
        targets=tuple(AtMost(f"{size}/hours", hours) for size, hours in HOURS.items()),
        baselines=(Baseline(name="eight P100", published="12 hours and 84 hours"),),
        cost="5 minutes on a GPU; not meant for a CPU",
        measure=measure,
    )


def measure(context: Context) -> Measured:
    """Train each for a little, and reckon from its speed."""
    measured = TRAININGS(context)
    hours = {
        f"{size}/hours": Number(
            {
                seed: tokens / speed / 3_600 if speed > 0 else math.nan
                for seed, speed in measured.numbers[f"{size}/tokens_per_second"].by_seed.items()
            }
        )
        for size, tokens in TARGET_TOKENS.items()
    }
    return replace(measured, numbers={**measured.numbers, **hours})


TRAININGS = Trainings(
    arms=tuple(
        Arm(
            name=size,
            problem="algorithmic_reverse_nlplike32k",
            preset=f"transformer_{size}_paper",
            settings={
                "batch.row": 512,
                "training.compile": True,
                "training.log_every": 20,
                "training.evaluate_every": 0,
                "training.evaluate_examples": 1,
                "training.average": 0,
                "training.checkpoint_every": 0,
            },
        )
        for size in TARGET_TOKENS
    ),
    budget=Budget(steps=200),
    seeds=(1,),
    small=Small(
        settings={
            **TINY_MODEL,
            **TINY_ALGORITHMIC,
            "problem.symbols": 50,
            "problem.train_length": 10,
            "problem.eval_length": 10,
            "batch.row": 64,
            "training.compile": False,
            "training.log_every": 1,
        },
        steps=3,
    ),
    notes=("projected, not trained to the end",),
)

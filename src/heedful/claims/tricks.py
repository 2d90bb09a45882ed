"""The Transformer's tricks, each switched off alone, and its shape, one number at a time."""

from typing import Any

from heedful.claims.arms import Arm, Budget, Trainings
from heedful.claims.base import Baseline, Claim, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import Beats
from heedful.claims.transformer import ATTENTION, SMALL_TRANSLATION

PROBLEM, PRESET = "multi30k_en_de", "transformer_multi30k"

# Norms after each part, as in the paper: with norms before, a warm-up matters little. They bear a
# lower rate than the preset's. The cosine stands in place of 1/√step, so that a warm-up can be left
# out and nothing else changes, and like it ends well above 0: at a rate of 0 all checkpoints are
# alike, and there is nothing to average.
COMMON = {
    "model.norm": "post",
    "schedule.peak": 3e-3,
    "schedule.floor": 7.5e-4,
    "schedule.warmup": 400,
    "training.checkpoint_every": 20,
}
USUAL = Reading(metrics=("bleu",), checkpoint="average")

# What is switched off when decoding needs no other training.
DECODED: dict[str, Reading] = {
    "no_averaging": Reading(name="no_averaging", metrics=("bleu",), checkpoint="latest"),
    "no_beam": Reading(
        name="no_beam", metrics=("bleu",), checkpoint="average", decode={"beam": 1, "alpha": 0.0}
    ),
    "no_length_penalty": Reading(
        name="no_length_penalty", metrics=("bleu",), checkpoint="average", decode={"alpha": 0.0}
    ),
}
# What is switched off in training.
TRAINED: dict[str, dict[str, Any]] = {
    "no_smoothing": {"loss.amount": 0.0},
    "no_dropout": {"model.dropout": 0.0, "model.attention_dropout": 0.0},
    "no_warmup": {"schedule.warmup": 0},
}
# Rows after the paper's Table 3: (A) heads, (B) key size, (C) depth and widths, (E) positions. With
# norms before each part and clipping, so that wide and deep ones bear the rate that the others do.
TABLE = {"schedule.peak": 3e-3, "schedule.warmup": 400, "training.clip": 1.0}
SHAPES: dict[str, dict[str, Any]] = {
    "base": {},
    "heads_1": {"model.heads": 1},
    "heads_16": {"model.heads": 16},
    "key_8": {"model.attention.head_dim": 8},
    "layers_2": {"model.layers": 2},
    "layers_6": {"model.layers": 6},
    "dim_64": {"model.dim": 64},
    "dim_256": {"model.dim": 256},
    "ff_1024": {"model.ff": 1024},
    "learned_positions": {"model.positions": "learned:256"},
}
BEATEN = (
    *(f"{name}/bleu" for name in TRAINED),
    *(f"all/{DECODED[name].numbers()['bleu']}" for name in ("no_averaging", "no_beam")),
)


@claims.register("transformer_tricks")
def transformer_tricks() -> Claim:
    """Smoothing, dropout, warm-up, averaging, beam: each switched off alone loses."""
    return Claim(
        name="transformer_tricks",
        system="Transformer, four layers of 128, and variations of it",
        paper=Paper(**ATTENTION, where="Table 3 and section 5", figure="see the rows of Table 3"),
        statement="Label smoothing, dropout, warm-up, averaged checkpoints and beam search with a "
        "length penalty each improve a Transformer.",
        task="multi30k_en_de, test 2016, cased sacreBLEU; rows as in the paper's Table 3 beside it",
        targets=tuple(Beats("all/bleu", without) for without in BEATEN),
        baselines=tuple(Baseline(name=without, number=without) for without in BEATEN),
        cost="4 trainings with three seeds and 10 with one: half an hour on a GPU",
        measure=Trainings(
            arms=(
                _arm("all", COMMON, (USUAL, *DECODED.values())),
                *(_arm(name, COMMON | changes) for name, changes in TRAINED.items()),
                *(_arm(name, TABLE | changes, seeds=(1,)) for name, changes in SHAPES.items()),
            ),
            budget=Budget(steps=3_000),
            small=SMALL_TRANSLATION,
        ),
    )


def _arm(
    name: str,
    settings: dict[str, Any],
    readings: tuple[Reading, ...] = (USUAL,),
    seeds: tuple[int, ...] = (),
) -> Arm:
    return Arm(
        name=name,
        problem=PROBLEM,
        preset=PRESET,
        settings=settings,
        readings=readings,
        seeds=seeds,
    )

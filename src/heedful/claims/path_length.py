"""How far apart two symbols may stand and still be joined, by how long the path between them is."""

from dataclasses import dataclass, replace

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import (
    Baseline,
    Claim,
    Context,
    Measured,
    Paper,
    Piece,
    Point,
    claims,
)
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast, Beats
from heedful.claims.transformer import ATTENTION

DISTANCES = (16, 64, 256)
KEPT = 8  # symbols to say again
EXAMPLES = 32  # of a step, at every distance as many

# A family joins by its preset; each is trained for as many steps at every distance.
FAMILIES = {"self_attention": "transformer_lm_recall", "recurrence": "recurrent_lm_recall"}


@claims.register("attention_path_length")
def attention_path_length() -> Claim:
    """Self-attention recalls what stood far back as well as what stood near."""
    return Claim(
        name="attention_path_length",
        system="Transformer, decoder alone, and beside it two LSTM layers; no convolutions yet",
        paper=Paper(
            **ATTENTION,
            where="Table 1",
            figure="path length: 1 for self-attention, n for recurrence, log n for convolution",
        ),
        statement="Self-attention joins any two places by a path of constant length, "
        "so that far dependencies are as easy to learn as near ones.",
        task=f"recall: say {KEPT} digits again after n others",
        targets=(
            *(AtLeast(f"self_attention_{distance}/token_accuracy", 95.0) for distance in DISTANCES),
            Beats(
                f"self_attention_{DISTANCES[-1]}/token_accuracy",
                f"recurrence_{DISTANCES[-1]}/token_accuracy",
            ),
        ),
        baselines=(Baseline(name="LSTM", number=f"recurrence_{DISTANCES[-1]}/token_accuracy"),),
        cost="40 minutes on two CPU cores, 10 on a GPU",
        measure=OverDistances(trainings=TRAININGS),
    )


@dataclass(frozen=True, kw_only=True)
class OverDistances:
    """Measures by training each family at each distance; what comes out is a curve over them."""

    trainings: Trainings

    def arm_names(self) -> tuple[str, ...]:
        return self.trainings.arm_names()

    def pieces(self, context: Context) -> tuple[Piece, ...]:
        return self.trainings.pieces(context)

    def __call__(self, context: Context) -> Measured:
        measured = self.trainings(context)
        curve: dict[str, list[Point]] = {}
        for family in FAMILIES:
            for distance in DISTANCES:
                number = measured.numbers.get(f"{family}_{distance}/token_accuracy")
                if number is not None:
                    point = {"distance": distance, "token_accuracy": number.mean}
                    curve.setdefault(family, []).append(point)
        return replace(measured, curve=curve)


TRAININGS = Trainings(
    arms=tuple(
        Arm(
            name=f"{family}_{distance}",
            problem="recall",
            preset=preset,
            settings={
                "problem.distance": distance,
                "problem.kept": KEPT,
                "batch.tokens": EXAMPLES * (KEPT + distance + 1),
            },
            readings=(Reading(metrics=("token_accuracy", "exact_match"), checkpoint="latest"),),
        )
        for family, preset in FAMILIES.items()
        for distance in DISTANCES
    ),
    budget=Budget(steps=1_000),
    seeds=(1, 2, 3),
    small=Small(
        settings={
            "model.dim": 16,
            "model.layers": 1,
            "batch.tokens": 256,
            "decode.beam": 1,
            "problem.distance": 8,
            "problem.train_examples": 40,
            "problem.valid_examples": 2,
            "problem.test_examples": 2,
        },
    ),
    notes=("the convolutional side joins when such models are here",),
)

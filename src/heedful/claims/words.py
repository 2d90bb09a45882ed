"""Words by their spelling: a language model without a table of words to read by."""

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Number, Numbers, Paper, claims
from heedful.claims.large_vocabularies import SMALL_ZIPF
from heedful.claims.readings import Reading
from heedful.claims.targets import AtMost
from heedful.runs.loading import load_model

ARMS = {"char": "char_cnn_lm_ptb", "word": "word_lm_ptb"}


@claims.register("char_cnn_ptb")
def char_cnn_ptb() -> Claim:
    """Words by their spelling are guessed no worse than words by a table, with no more weights."""
    return Claim(
        name="char_cnn_ptb",
        system="LSTM language model over a character CNN with a highway layer",
        paper=Paper(
            authors="Kim, Jernite, Sontag and Rush",
            title="Character-Aware Neural Language Models",
            venue="AAAI 2016",
            url="https://arxiv.org/abs/1508.06615",
            where="Table 3",
            figure="test perplexity 92.3 by characters and 97.6 by words, 5 million weights each",
        ),
        statement="Characters are enough: a model that reads words by their spelling does as well "
        "as one with a table of them, with no more weights.",
        task="ptb, perplexity of the test split, an end of line counted as a word; pieces of at "
        "most 256 words are met anew, which the paper's are not",
        targets=(
            AtMost("char/perplexity_ratio", 1.0),
            AtMost("char/parameters_ratio", 1.0),
            AtMost("char/perplexity", 105.0),
        ),
        baselines=(
            Baseline(name="words by a table", number="word/perplexity"),
            Baseline(name="Kneser-Ney 5-gram", published="141.2, as the paper quotes it"),
        ),
        cost="15 minutes a seed on a GPU",
        measure=TRAININGS,
    )


def parameters(arm: Arm, seed: int, context: Context) -> dict[str, float]:
    """How many weights a model has."""
    model = load_model(context.run_of(arm.name, seed)).model
    return {"parameters": float(sum(weight.numel() for weight in model.parameters()))}


def ratios(numbers: Numbers) -> Numbers:
    """The model with characters beside the one with a table."""
    found = {}
    for of in ("perplexity", "parameters"):
        char, word = (numbers.get(f"{name}/{of}") for name in ARMS)
        if char is not None and word is not None:
            ratio = {seed: char.by_seed[seed] / word.by_seed[seed] for seed in char.by_seed}
            found[f"char/{of}_ratio"] = Number(ratio)
    return found


TRAININGS = Trainings(
    arms=tuple(
        Arm(
            name=name,
            problem="ptb",
            preset=preset,
            readings=(Reading(metrics=("perplexity",), checkpoint="best"),),
        )
        for name, preset in ARMS.items()
    ),
    budget=Budget(steps=9_000),
    seeds=(1, 2, 3),
    small=Small(
        problem="zipf_lm",
        settings={**SMALL_ZIPF, "model.dim": 16, "batch.tokens": 256},
    ),
    look=parameters,
    compare=ratios,
)

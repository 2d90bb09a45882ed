"""Music: a model that hears distances between notes guesses music better, and goes on for longer.

The relative arms are the presets `music_transformer_*`, whatever slot of attention those take.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heedful.claims.arms import Arm, Budget, Small
from heedful.claims.base import Baseline, Claim, Paper, claims
from heedful.claims.music_listening import Continuing, Lasting, Listening
from heedful.claims.readings import Reading
from heedful.claims.targets import AtMost, Beats
from heedful.data.batching import Bucketed
from heedful.problems.base import TEST, VALID

LSTM, ABSOLUTE, RELATIVE = "lstm", "absolute", "relative"
PRESETS = {LSTM: "performance_rnn", ABSOLUTE: "transformer_lm", RELATIVE: "music_transformer"}
SMALL = {
    "problem.length": 48,
    "problem.train_examples": 12,
    "problem.valid_examples": 2,
    "problem.test_examples": 2,
    "model.dim": 16,
    "model.layers": 1,
    "batch": Bucketed(tokens=128, longest=128),
}
PAPER = Paper(
    authors="Huang, Vaswani, Uszkoreit, Shazeer, Simon, Hawthorne, Dai, Hoffman, Dinculescu and "
    "Eck",
    title="Music Transformer: Generating Music with Long-Term Structure",
    venue="ICLR 2019",
    url="https://arxiv.org/abs/1809.04281",
    where="Table 2",
    figure="0.417 nats a note with absolute positions, 0.357 with relative ones",
)
RISES = (
    Baseline(name="absolute positions", number="absolute/rise"),
    Baseline(name="an LSTM", number="lstm/rise"),
)


def arms(
    data: str, problem: str, splits: tuple[str, ...], settings: Mapping[str, Any] | None = None
) -> tuple[Arm, ...]:
    """The three systems, with the presets for some data."""
    readings = tuple(Reading(metrics=("loss",), split=split, name=split) for split in splits)
    return tuple(
        Arm(
            name=name,
            problem=problem,
            preset=f"{preset}_{data}",
            settings=settings or {},
            readings=readings,
        )
        for name, preset in PRESETS.items()
    )


@claims.register("music_relative_attention")
def music_relative_attention() -> Claim:
    """Of Bach's chorales, a Transformer that hears distances guesses more than one that counts."""
    return Claim(
        name="music_relative_attention",
        system="LSTM, Transformer with absolute and with relative positions",
        paper=PAPER,
        statement="Relative positions make a Transformer a better model of music.",
        task="music_jsb_chorales: nats a note of the valid split, under one number of steps",
        targets=(
            Beats("lstm/note_nll", "absolute/note_nll"),
            Beats("absolute/note_nll", "relative/note_nll", by=0.03),
            AtMost("absolute/note_nll", 0.50),
            AtMost("relative/note_nll", 0.43),
        ),
        baselines=(
            Baseline(name="an LSTM", number="lstm/note_nll"),
            Baseline(name="absolute positions", number="absolute/note_nll"),
            Baseline(name="a table of pairs of notes", published="0.839 nats a note"),
        ),
        cost="nine trainings of 3,000 steps: about half an hour on a GPU",
        measure=Listening(
            arms=arms("jsb", "music_jsb_chorales", (VALID, TEST)),
            budget=Budget(steps=3_000),
            small=Small(settings=SMALL, problem="music_motifs"),
        ),
    )


@claims.register("music_long_pieces")
def music_long_pieces() -> Claim:
    """Bach's chorales, learnt three bars at a time, are guessed to their end by a Transformer that
    hears distances, and only as far as it learnt by one that counts."""
    return Claim(
        name="music_long_pieces",
        system="LSTM, Transformer with absolute and with relative positions",
        paper=replace(
            PAPER,
            where="continuations of a motif",
            figure="samples longer than what was trained on, to be heard and not counted",
        ),
        statement="With relative attention music goes on beyond the length that was trained on.",
        task="music_jsb_chorales in windows of 192 notes, three bars; then whole pieces of the "
        "test split: nats a note within and beyond that length",
        targets=(
            AtMost("relative/rise", 0.05),
            Beats("absolute/rise", "relative/rise", by=0.1),
        ),
        baselines=RISES,
        cost="three small trainings: a quarter of an hour on two CPU cores",
        measure=Lasting(
            arms=arms("motifs", "music_jsb_chorales", (VALID,), {"problem.piece": 193}),
            budget=Budget(steps=2_000),
            seeds=(1,),
            small=Small(settings=SMALL, problem="music_motifs"),
        ),
    )


@claims.register("music_motif_continuation")
def music_motif_continuation() -> Claim:
    """Beyond the length it was trained on, a Transformer that hears distances goes on as before."""
    return Claim(
        name="music_motif_continuation",
        system="LSTM, Transformer with absolute and with relative positions",
        paper=PAPER,
        statement="With relative attention a motif is taken up again, also beyond the length that "
        "was trained on.",
        task="music_motifs, returns on the same keys: nats of what a returning motif leaves no "
        "doubt about, within and beyond the trained length; and figures heard again in pieces that "
        "go on from a motif",
        targets=(
            AtMost("relative/rise", 0.05),
            Beats("absolute/rise", "relative/rise", by=0.1),
            Beats("absolute/heard_again", "lstm/heard_again"),
            Beats("relative/heard_again", "absolute/heard_again"),
        ),
        baselines=RISES,
        cost="nine small trainings: about an hour on two CPU cores, minutes on a GPU",
        measure=Continuing(
            arms=arms("motifs", "music_motifs", (TEST,), {"problem.interval": 0}),
            budget=Budget(steps=2_000),
            small=Small(settings=SMALL),
        ),
    )

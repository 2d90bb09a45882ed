"""Show, Attend and Tell: attention finds what a word is about, and captions are better for it."""

import numpy as np
import torch

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast, AtMost, Beats
from heedful.data.loader import evaluation_batches
from heedful.data.preparation import prepare
from heedful.decoding.search import at_rest
from heedful.distributed.processes import pick_device
from heedful.modalities.pictures import CellsConfig
from heedful.nn.telling import CROSS
from heedful.nn.watching import watch
from heedful.problems.base import TEST
from heedful.problems.captions_shapes import named_cells
from heedful.runs.loading import load_model
from heedful.text.pictures import PictureTokenizer

WORDS = 4  # of a caption of two shapes
PIXELS = 2**16  # of a batch that is looked at


@claims.register("show_attend_tell")
def show_attend_tell() -> Claim:
    """Attention looks at the thing that a word names, and captions are better for it."""
    return Claim(
        name="show_attend_tell",
        system="LSTM with soft attention to the cells of a picture",
        paper=Paper(
            authors="Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel and Bengio",
            title="Show, Attend and Tell: Neural Image Caption Generation with Visual Attention",
            venue="ICML 2015",
            url="https://arxiv.org/abs/1502.03044",
            where="Table 1 and Figures 2 to 5",
            figure="Flickr8k, soft attention: BLEU-1 to 4 of 67 / 44.8 / 29.9 / 19.5",
        ),
        statement="A model that attends learns where each word's object is, and describes "
        "pictures better than one that sees them as a whole.",
        task="caption_shapes: two coloured shapes named from left to right, and the share of "
        "attention on the cell that each word is about; flickr8k_1k: BLEU of real captions of 100 "
        "photographs of 32 x 32 after 800 others, without a net that was trained before",
        targets=(
            AtLeast("shapes/exact_match", 98.0),
            AtLeast("shapes/mass", 0.7),
            AtMost("shapes_mean/exact_match", 60.0),
            Beats("photographs/caption_bleu4", "photographs_mean/caption_bleu4"),
        ),
        baselines=(
            Baseline(name="the mean of all cells, shapes", number="shapes_mean/exact_match"),
            Baseline(
                name="the mean of all cells, photographs", number="photographs_mean/caption_bleu4"
            ),
        ),
        cost="about 10 minutes a seed on two CPU cores, one training on each",
        measure=TRAININGS,
    )


def masses(arm: Arm, seed: int, context: Context) -> dict[str, float]:
    """How much of a look is at the cell that its word is about, the mean over the test: of all
    words, and of each. Only shapes are known to stand somewhere."""
    if arm.name != SHAPES:
        return {}
    place = pick_device(context.device)
    loaded = load_model(context.run_of(arm.name, seed), None, place, context.note)
    config, pictures = loaded.config, loaded.tokenizers["inputs"]
    assert isinstance(pictures, PictureTokenizer)
    prepared = prepare(config.problem_name, config.problem, context.data, context.progress)
    found = []
    for batch in evaluation_batches(prepared.split(TEST), prepared.features, PIXELS):
        with torch.no_grad(), at_rest(loaded.model), watch(loaded.model, (CROSS,)) as seen:
            loaded.model.hidden(batch.to(place))
        weights = seen.weights[0][1][:, 0].cpu().numpy()  # [B, L, K]
        for row, ids in zip(weights, batch.inputs.ids.tolist(), strict=True):
            cells = named_cells(pictures.drawn(ids))
            found.append(row[np.arange(WORDS), cells])
    mass = np.mean(found, axis=0)
    each = {f"mass_{word}": float(share) for word, share in enumerate(mass, start=1)}
    return {"mass": float(mass.mean()), **each}


def _arm(name: str, problem: str, preset: str, metrics: tuple[str, ...], attend: str) -> Arm:
    settings = {"model.attend": attend}
    reading = Reading(metrics=metrics, checkpoint="best")
    return Arm(name=name, problem=problem, preset=preset, settings=settings, readings=(reading,))


SHAPES, PHOTOGRAPHS = "shapes", "photographs"
_OF_SHAPES = ("caption_shapes", "caption_attend_shapes", ("exact_match",))
_OF_PHOTOGRAPHS = (
    "flickr8k_1k",
    "caption_attend_flickr8k_1k",
    tuple(f"caption_bleu{n}" for n in (1, 2, 3, 4)),
)
TRAININGS = Trainings(
    arms=(
        _arm(SHAPES, *_OF_SHAPES, "soft"),
        _arm(f"{SHAPES}_mean", *_OF_SHAPES, "mean"),
        _arm(PHOTOGRAPHS, *_OF_PHOTOGRAPHS, "soft"),
        _arm(f"{PHOTOGRAPHS}_mean", *_OF_PHOTOGRAPHS, "mean"),
        _arm(f"{PHOTOGRAPHS}_hard", *_OF_PHOTOGRAPHS, "hard"),
    ),
    budget=Budget(steps=1_200),
    small=Small(
        problem="caption_shapes",  # in place of photographs, which would have to be fetched
        settings={
            "model.dim": 8,
            "model.hidden": 8,
            "model.score": 8,
            "model.cells": CellsConfig(channels=(4,), cell=6),
            "batch.tokens": 2_048,
            "decode.beam": 1,
            "decode.extra_length": 0,
            "problem.train_examples": 40,
            "problem.valid_examples": 2,
            "problem.test_examples": 2,
        },
    ),
    look=masses,
)

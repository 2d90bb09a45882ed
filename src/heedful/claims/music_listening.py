"""What is read off models of music: nats by place, and how much of a piece is heard again in it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from heedful.claims.arms import Arm, Trainings
from heedful.claims.base import Context, Measured, Number
from heedful.data.batch import Batch, pad
from heedful.data.loader import evaluation_batches
from heedful.data.preparation import prepare
from heedful.decoding.composing import Composed, Composing, compose
from heedful.distributed.processes import pick_device
from heedful.models.base import Model, unlikeliness
from heedful.problems.base import TEST, VALID, Problem
from heedful.problems.music import Music
from heedful.problems.music_motifs import Motifs
from heedful.runs.loading import Loaded, load_model
from heedful.seeing.music import seen
from heedful.text.midi import Note
from heedful.text.music import MusicTokenizer
from heedful.text.specials import EOS, RESERVED
from heedful.viz.music import music_page

HEARD = 4  # notes of a figure that is looked for again
MELODIES = 100  # that nats are measured on
PIECES = 24  # that are composed
SECONDS = 40.0  # of a piece
WHOLE = 1_000_000  # symbols that no piece has
PAGE = "samples.html"


def nats(model: Model, batches: Iterator[Batch], device: torch.device) -> list[np.ndarray]:
    """Of each row, -log p of every symbol but the end, in order, where a piece goes on.

    Windows end anywhere, mostly after as many symbols: that a model has learnt when is no merit
    within that length, and no fault beyond it.
    """
    found: list[np.ndarray] = []
    with torch.no_grad():
        for batch in batches:
            rows = batch.to(device).targets
            logits = model.logits(batch.to(device)).float()
            logits[..., :RESERVED] = -torch.inf
            lost = unlikeliness(logits, rows.ids, rows.at)
            kept = rows.at.real & (rows.ids != EOS)
            found += [
                one[real].double().cpu().numpy() for one, real in zip(lost, kept, strict=True)
            ]
    return found


def heard_again(notes: Sequence[Note]) -> float:
    """The share of a piece's figures, of four notes, that it had before: the same intervals in the
    same rhythm, on any key."""
    ordered = sorted(notes)
    steps = [
        (b.pitch - a.pitch, round((b.start - a.start) * 20))
        for a, b in zip(ordered, ordered[1:], strict=False)
    ]
    figures = [tuple(steps[i : i + HEARD - 1]) for i in range(len(steps) - HEARD + 2)]
    if len(figures) < 2:
        return 0.0
    return sum(one in figures[:i] for i, one in enumerate(figures)) / (len(figures) - 1)


@dataclass(frozen=True, kw_only=True)
class Listening(Trainings):
    """Trains arms on music, and adds `ARM/note_nll`: nats a note (or event) of the valid split,
    where ends of windows take no part."""

    def __call__(self, context: Context) -> Measured:
        measured = super().__call__(context)
        numbers = dict(measured.numbers)
        for arm in self.arms:
            if not context.wants(arm.name):
                continue
            by_seed = {seed: self.listened(arm, seed, context) for seed in measured.seeds}
            for name in next(iter(by_seed.values())):
                values = {seed: found[name] for seed, found in by_seed.items()}
                numbers[f"{arm.name}/{name}"] = Number(values)
        return replace(measured, numbers=numbers)

    def listened(self, arm: Arm, seed: int, context: Context) -> dict[str, float]:
        """The numbers of one run."""
        loaded, place = _loaded(context, arm, seed)
        context.note(f"{arm.name}-seed{seed}: listening")
        config = loaded.config
        prepared = prepare(config.problem_name, config.problem, context.data, context.progress)
        budget = config.preset.decode.batch_tokens
        batches = evaluation_batches(prepared.split(VALID), prepared.features, budget)
        return {"note_nll": float(np.concatenate(nats(loaded.model, batches, place)).mean())}


@dataclass(frozen=True, kw_only=True)
class Lasting(Listening):
    """Trains arms on windows of music, and adds what they make of whole pieces of the test split:
    `ARM/within` are nats a note in the second half of the trained length, `ARM/rise` is how much
    more they are beyond it, in the pieces that are longer."""

    def listened(self, arm: Arm, seed: int, context: Context) -> dict[str, float]:
        loaded, place = _loaded(context, arm, seed)
        config = loaded.config
        problem, length = uncut(config.problem)
        prepared = prepare(config.problem_name, problem, context.data, context.progress)
        budget = config.preset.decode.batch_tokens
        batches = evaluation_batches(prepared.split(TEST), prepared.features, budget)
        lost = [row for row in nats(loaded.model, batches, place) if len(row) > length]
        within = np.concatenate([row[length // 2 : length] for row in lost]).mean()
        beyond = np.concatenate([row[length:] for row in lost]).mean()
        return {
            **super().listened(arm, seed, context),
            "within": float(within),
            "rise": float(beyond - within),
        }


def uncut(problem: Problem) -> tuple[Problem, int]:
    """The same music with pieces to test on as long as they are, and how long those are that are
    trained on."""
    if isinstance(problem, Music):
        return replace(problem, piece=WHOLE), problem.piece - 1
    assert isinstance(problem, Motifs)
    return problem, problem.length


@dataclass(frozen=True, kw_only=True)
class Continuing(Listening):
    """Trains arms on motifs, and adds what they make of melodies longer than they were trained on.

    `ARM/known` are nats of what a return of the motif leaves no doubt about, in the second half of
    the trained length; `ARM/rise` is how much more they are beyond it; `ARM/heard_again` is the
    share of figures that a piece composed after a motif had before. A page beside the runs has a
    piece of each arm, after the same motif.
    """

    def __call__(self, context: Context) -> Measured:
        measured = super().__call__(context)
        shown = [
            {"name": arm.name, **self.sample(arm, measured.seeds[0], context)}
            for arm in self.arms
            if context.wants(arm.name)
        ]
        page = music_page("The same motif, continued", shown)
        (context.runs / PAGE).write_text(page, encoding="utf-8")
        return replace(measured, notes=(*measured.notes, f"samples: {PAGE} beside the runs"))

    def listened(self, arm: Arm, seed: int, context: Context) -> dict[str, float]:
        loaded, place = _loaded(context, arm, seed)
        problem = loaded.config.problem
        assert isinstance(problem, Motifs)
        rng = random.Random(f"melodies/{seed}")
        length = problem.length
        count = self.small.examples if context.smoke else MELODIES
        melodies = [problem.melody(length * problem.longer, rng) for _ in range(count)]
        batches = (
            Batch({"targets": pad([[e + RESERVED for e in events]])}) for events, _ in melodies
        )
        lost = np.stack(nats(loaded.model, batches, place))
        known = np.array([flags for _, flags in melodies])
        places = np.arange(lost.shape[1])
        within = lost[known & (places >= length // 2) & (places < length)].mean()
        beyond = lost[known & (places >= length)].mean()
        again = [
            heard_again(loaded.tokenizers["targets"].notes(piece.ids))  # type: ignore[attr-defined]
            for piece in self._composed(loaded, seed, context)
        ]
        return {
            **super().listened(arm, seed, context),
            "known": float(within),
            "rise": float(beyond - within),
            "heard_again": float(np.mean(again)),
        }

    def sample(self, arm: Arm, seed: int, context: Context) -> dict[str, object]:
        """The first piece of an arm, for the page."""
        loaded, _ = _loaded(context, arm, seed)
        tokenizer = loaded.tokenizers["targets"]
        assert isinstance(tokenizer, MusicTokenizer)
        piece = next(self._composed(loaded, seed, context))
        return seen(loaded.model, tokenizer, piece)

    def _composed(self, loaded: Loaded, seed: int, context: Context) -> Iterator[Composed]:
        """Pieces after motifs, the same for each arm."""
        tokenizer, problem = loaded.tokenizers["targets"], loaded.config.problem
        assert isinstance(tokenizer, MusicTokenizer) and isinstance(problem, Motifs)
        rng = random.Random(f"motifs/{seed}")
        for number in range(1 if context.smoke else PIECES):
            events, _ = problem.melody(3 * problem.longest + 1, rng)
            prime = [event + RESERVED for event in events]
            longer = 2.0 if context.smoke else SECONDS
            how = Composing(seconds=tokenizer.seconds(prime) + longer, seed=number)
            yield compose(loaded.model, tokenizer, prime, how, loaded.config.preset.batch.limit)


def _loaded(context: Context, arm: Arm, seed: int) -> tuple[Loaded, torch.device]:
    place = pick_device(context.device)
    path: Path = context.runs / f"{arm.name}-seed{seed}"
    return load_model(path, None, place, context.note), place

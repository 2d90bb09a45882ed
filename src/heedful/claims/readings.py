"""Readings: what is read off a trained run, by which split, metrics and search."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.claims.base import Context
from heedful.config import vary
from heedful.data.preparation import prepare
from heedful.decoding.translator import Translator
from heedful.distributed.processes import pick_device
from heedful.metrics.base import Score, score
from heedful.problems.base import TEST
from heedful.runs.folder import RunFolder
from heedful.runs.loading import load_model
from heedful.training.evaluation import evaluate

LIKELIHOOD = ("loss", "perplexity")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Metrics of one split, for one checkpoint and one way to search.

    Each gives a number, named by the metric, after the name of the reading if it has one:
    `unseen_exact_match`.
    """

    metrics: tuple[str, ...]
    name: str = ""
    split: str = TEST
    checkpoint: str | None = None  # latest, best, average, step-N; None for the best there is
    decode: Mapping[str, Any] = field(default_factory=dict)

    def numbers(self) -> dict[str, str]:
        """The name of each metric's number."""
        return {m: f"{self.name}_{m}" if self.name else m for m in self.metrics}


def read(reading: Reading, run: Path, context: Context, examples: int) -> dict[str, Score]:
    """The scores, by their numbers' names. So many `examples` are decoded; 0 for all."""
    usual = {*RunFolder.open(run).config().problem.metrics, *LIKELIHOOD}
    others = set(reading.metrics) - usual
    asked = [m for m in reading.metrics if m not in LIKELIHOOD] if others else []
    found: dict[str, Score] = _scored(reading, run, context, examples, asked) if asked else {}
    if not set(reading.metrics) <= set(found):
        measured = evaluate(
            run,
            context.data,
            split=reading.split,
            checkpoint=reading.checkpoint,
            decode=reading.decode,
            examples=examples,
            device=context.device,
            progress=context.progress,
            warn=context.note,
        )
        found = {**measured["metrics"], **found}
    return {name: found[metric] for metric, name in reading.numbers().items()}


def _scored(
    reading: Reading, run: Path, context: Context, examples: int, metrics: Iterable[str]
) -> dict[str, Score]:
    """Any metrics of the outputs, also such as the problem itself is not judged by."""
    place = pick_device(context.device)
    loaded = load_model(run, reading.checkpoint, place, context.note)
    config = loaded.config
    shards = prepare(config.problem_name, config.problem, context.data, context.progress).split(
        reading.split
    )
    texts = [shards.raw(i) for i in range(min(examples or len(shards), len(shards)))]
    decode = vary(config.preset.decode, reading.decode)
    decoded = Translator(loaded.model, loaded.tokenizers, decode, place).decode(
        [text["inputs"] for text in texts]
    )
    return score(
        [line.text for line in decoded],
        [text["targets"] for text in texts],
        metrics,
        [text["inputs"] for text in texts],
    )

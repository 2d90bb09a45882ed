"""Evaluation: what a model thinks of the right answers, and what it says by itself, scored."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from heedful.config import to_json, vary
from heedful.data.loader import evaluation_batches
from heedful.data.preparation import Prepared, Progress, prepare, silent
from heedful.data.shards import Shards
from heedful.decoding.translator import Translator
from heedful.distributed.processes import pick_device
from heedful.errors import HeedfulError
from heedful.metrics.base import LOWER, score
from heedful.metrics.likelihood import Likelihood
from heedful.models.base import Model
from heedful.presets.base import Decode
from heedful.problems.base import TEST
from heedful.runs.config import RunConfig
from heedful.runs.folder import RunFolder
from heedful.runs.loading import load_model
from heedful.text.base import Tokenizer


def merit(metrics: Mapping[str, Any], metric: str) -> tuple[float, float]:
    """How good an evaluation is, to be compared: by `metric`, and among equals by the loss.

    Early on a metric may be 0 again and again while the loss falls: the later one is the better.
    """
    return _raised(metric, metrics[metric]["value"]), _raised("loss", metrics["loss"]["value"])


def _raised(metric: str, value: float) -> float:
    """A value turned so that higher is better, and what is not a number is worst."""
    if math.isnan(value):
        return -math.inf
    return -value if metric in LOWER else value


class Evaluator:
    """Measures a model on a split of the prepared data, by the problem's own metrics."""

    def __init__(
        self,
        config: RunConfig,
        prepared: Prepared,
        tokenizers: Mapping[str, Tokenizer],
        device: torch.device,
    ) -> None:
        self.config, self.prepared = config, prepared
        self.tokenizers, self.device = tokenizers, device

    def measure(
        self,
        model: Model,
        split: str,
        examples: int = 0,
        decode: Decode | None = None,
        likelihood: bool = True,
    ) -> dict[str, Any]:
        """Loss and perplexity over the whole split (if `likelihood`), and the problem's metrics for
        the outputs to its first `examples` (0 for all). `{}` where the split has nothing in it.

        The model is in `eval()` meanwhile, and then as it was.
        """
        if split not in self.prepared.info["splits"]:
            return {}
        shards = self.prepared.split(split)
        if len(shards) == 0:
            return {}
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():  # in full precision: what is measured is what decoding gives
                metrics: dict[str, Any] = {}
                if likelihood:
                    metrics |= self._likelihood(model, shards).scores()
                metrics |= self._outputs(model, shards, examples or len(shards), decode)
        finally:
            model.train(was_training)
        return metrics

    def _likelihood(self, model: Model, shards: Shards) -> Likelihood:
        sums = torch.zeros(2, dtype=torch.float64, device=self.device)
        budget = self.config.preset.decode.batch_tokens
        for batch in evaluation_batches(shards, self.prepared.features, budget):
            loss = model.loss(batch.to(self.device))
            sums += torch.stack([loss.nll.double(), loss.weight.double()])
        nll, weight = sums.tolist()
        return Likelihood(nll, int(weight))

    def _outputs(
        self, model: Model, shards: Shards, examples: int, decode: Decode | None
    ) -> dict[str, Any]:
        """Real decoding, from text to text, as a user would see it."""
        if "inputs" not in self.prepared.features:
            return {}  # nothing to answer to: such a model is judged by its perplexity
        texts = [self._raw(shards, i) for i in range(min(examples, len(shards)))]
        sources = [text["inputs"] for text in texts]
        references = [text["targets"] for text in texts]
        translator = Translator(
            model, self.tokenizers, decode or self.config.preset.decode, self.device
        )
        decoded = translator.decode(sources)
        scores = score(
            [line.text for line in decoded], references, self.config.problem.metrics, sources
        )
        failed = sum(line.error is not None for line in decoded)
        return {**scores, **({"undecoded": {"value": float(failed)}} if failed else {})}

    def _raw(self, shards: Shards, index: int) -> dict[str, str]:
        try:
            return shards.raw(index)
        except HeedfulError:  # training keeps only ids
            example = shards.example(index)
            return {
                name: self.tokenizers[name].decode(ids.tolist()) for name, ids in example.items()
            }


def evaluate(
    path: Path,
    data_root: Path,
    *,
    split: str = TEST,
    checkpoint: str | None = None,
    decode: Mapping[str, Any] | None = None,
    examples: int = 0,
    device: str = "auto",
    progress: Progress = silent,
    warn: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure a run's checkpoint on a split; the data is prepared again if it is not there.

    `decode` changes fields of the run's own decoding, as in {"beam": 8}.
    """
    here = pick_device(device)
    loaded = load_model(path, checkpoint, here, warn)
    config = loaded.config
    prepared = prepare(config.problem_name, config.problem, data_root, progress)
    shards = prepared.split(split)
    same = RunFolder.open(path).data().get("fingerprint") == prepared.info["fingerprint"]
    if not same:  # its ids are of another vocabulary; text is still text
        warn(
            f"the data of {config.problem_name} is not what {path} was trained on: "
            "outputs are scored, loss and perplexity are left out"
        )
    settings = vary(config.preset.decode, decode or {})
    evaluator = Evaluator(config, prepared, loaded.tokenizers, here)
    metrics = evaluator.measure(loaded.model, split, examples, settings, likelihood=same)
    if not metrics:
        raise HeedfulError(
            f"the split '{split}' of {config.problem_name} has no examples to evaluate"
        )
    return {
        "problem": config.problem_name,
        "split": split,
        "checkpoint": loaded.checkpoint,
        "examples": min(examples or len(shards), len(shards)),
        "seed": config.preset.training.seed,
        "decode": to_json(settings),
        "metrics": metrics,
    }

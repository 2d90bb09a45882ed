"""From a run folder to a model that decodes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from heedful.errors import HeedfulError
from heedful.models.base import Model
from heedful.models.building import build
from heedful.runs.checkpoints import EMA, MODEL, Checkpoint
from heedful.runs.config import RunConfig
from heedful.runs.folder import RunFolder
from heedful.runs.weights import load_weights, weights
from heedful.text.base import Tokenizer


class Loaded(NamedTuple):
    """A model as it was trained, what it reads and writes with, and where it came from."""

    model: Model
    tokenizers: dict[str, Tokenizer]
    config: RunConfig
    checkpoint: dict[str, Any]  # name, step (None for an average), weights, sha256


def load_model(
    path: Path,
    checkpoint: str | None = None,
    device: torch.device | str = "cpu",
    warn: Callable[[str], None] = lambda _: None,
) -> Loaded:
    """The model of a run in `eval()`: its best checkpoint, else its latest, or the one asked for.

    Where the run kept a moving average of the weights, that is what is loaded.
    """
    folder = RunFolder.open(path)
    config, tokenizers = folder.config(), folder.tokenizers()
    found = folder.checkpoints.find(checkpoint, warn)
    model = make_model(config, tokenizers)
    fill(model, found)
    info = {
        "name": found.name,
        "step": found.step,
        "weights": found.weights,
        "sha256": found.sha256(found.weights),
    }
    return Loaded(model.to(device).eval(), tokenizers, config, info)


def make_model(config: RunConfig, tokenizers: dict[str, Tokenizer]) -> Model:
    """The model of a config, with first weights, for these vocabularies."""
    names = {feature.vocabulary for feature in config.problem.features.values()}
    shared = len(tokenizers) > 1 and len(names) == 1
    return build(config.preset.model, tokenizers, shared, config.preset.loss)


def fill(model: Model, checkpoint: Checkpoint) -> None:
    """Put a checkpoint's weights into a model, the moving average where there is one."""
    load_weights(model, checkpoint.tensors(MODEL), str(checkpoint.path))
    if checkpoint.has(EMA):
        own = weights(model)
        averaged = checkpoint.tensors(EMA)
        unknown = [name for name in averaged if name not in own]
        if unknown:
            raise HeedfulError(
                f"{checkpoint.path}: {EMA} has '{unknown[0]}', which the model has not"
            )
        with torch.no_grad():
            for name, tensor in averaged.items():
                own[name].copy_(tensor)

"""From a run folder to a translator that is ready."""

from collections.abc import Callable
from pathlib import Path

import torch

from heedful.config import vary
from heedful.decoding.job import Job
from heedful.decoding.ready import make_ready
from heedful.decoding.translator import Translator
from heedful.runs.loading import load_model


def translator_of(
    job: Job, device: torch.device | str, warn: Callable[[str], None] = lambda _: None
) -> Translator:
    """The model of a run on a device, as the job wants it."""
    loaded = load_model(Path(job.run), job.checkpoint, device, warn)
    make_ready(loaded.model, job.precision, device)
    config = vary(loaded.config.preset.decode, dict(job.changes))
    return Translator(loaded.model, loaded.tokenizers, config, device, job.to)

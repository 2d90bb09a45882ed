"""heedful: models that pay attention, from raw text to a trained, scored and used model.

import heedful
model = heedful.load("runs/demo")
model.translate(["I like the green cat."])
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heedful.decoding.job import Precision
    from heedful.decoding.translator import Translator

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(
    run: str | Path,
    checkpoint: str | None = None,
    device: str = "auto",
    precision: Precision = "auto",
) -> Translator:
    """The model of a run folder, ready for `translate`: loaded once, used many times.

    `checkpoint` is `latest`, `best`, `average` or `step-N`; without it, the best there is.
    `precision` is `fp32`, or `bf16` for the products of matrices, or on a CPU `int8`; `auto` takes
    bf16 on a CPU that has it, for models that gain by it.
    """
    import warnings

    from heedful.decoding.job import Job
    from heedful.decoding.of_run import translator_of
    from heedful.distributed.processes import pick_device

    job = Job(run=str(run), checkpoint=checkpoint, precision=precision)
    return translator_of(job, pick_device(device), lambda text: warnings.warn(text, stacklevel=4))

"""A preset: every number of a run, each in the hands of the part that it is about."""

from dataclasses import dataclass, field
from typing import Literal

from heedful.data.batching import Batching, Bucketed
from heedful.models.base import ModelConfig
from heedful.nn import adaptive, candidates, contrast  # noqa: F401  (so that loss can name them)
from heedful.nn.losses import Objective, Smoothing
from heedful.optim.adam import Adam
from heedful.optim.base import Optim
from heedful.optim.schedules import Noam, Schedule


@dataclass(frozen=True, kw_only=True)
class Training:
    """How long to train, how precisely, and what to save on the way."""

    steps: int = 100_000
    init: str = ""  # a run whose weights this one begins from; "" for random ones
    seed: int = 1
    parts: int = 1  # batches that make one step: accumulated on one device, or spread over several
    clip: float = 0.0  # largest norm of the whole gradient; 0 for no clipping
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Of what is computed; bf16 on a CPU is for products alone. auto: bf16 on a GPU, and for wide
    models on a CPU, where they have it."""
    compile: bool = False
    capture: bool = True  # on a GPU, record the work of a step once and replay it
    ema: float = 0.0  # decay of the moving average of the weights; 0 for none
    log_every: int = 100
    evaluate_every: int = 1_000  # in steps; 0 for only at the end
    evaluate_examples: int = 200  # how many of the valid split are decoded on the way; 0 for all
    checkpoint_every: int = 1_000
    keep_last: int = 5
    keep_best: int = 1
    disk_cap_gb: float = 0.0  # oldest checkpoints go first beyond this; 0 for no cap
    patience: int = 0  # stop after so many evaluations without a better one; 0 for never
    average: int = 0  # at the end, average the last so many checkpoints; 0 for none
    workers: int = 0  # processes that make batches; 0 for a thread of this one


@dataclass(frozen=True, kw_only=True)
class Decode:
    """How output is searched for. A beam of 1 is greedy."""

    beam: int = 4
    alpha: float = 0.6  # of the length penalty ((5 + length) / 6) ** alpha
    coverage: float = 0.0  # weight of the coverage penalty
    prune: float = 0.0  # drop what is so much below the best, in log-probability; 0 for nothing
    nbest: int = 1
    extra_length: int = 50  # output may be longer than input by so many tokens
    longest_input: int = 1024  # a longer source is reported and left out, not cut
    batch_tokens: int = 8_192
    temperature: float = 1.0
    sample: bool = False
    top_k: int = 0
    top_p: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Model, loss, optimiser, schedule, batches, decoding, training: nested, frozen, one owner a
    field. `vary` and `--set` change any of them."""

    model: ModelConfig
    loss: Objective = field(default_factory=Smoothing)
    optim: Optim = field(default_factory=Adam)
    schedule: Schedule = field(default_factory=Noam)
    batch: Batching = field(default_factory=Bucketed)
    decode: Decode = field(default_factory=Decode)
    training: Training = field(default_factory=Training)

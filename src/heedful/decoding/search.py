"""Decoding a batch: the one way in, whichever search a `Decode` asks for."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

import torch
from torch import nn

from heedful.data.batch import Batch
from heedful.decoding import recorded_beam
from heedful.decoding.beam import beam_search
from heedful.decoding.greedy import greedy_search
from heedful.decoding.limits import batch_rows, output_limits
from heedful.decoding.path import by_eighths
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.recorded import Recorded, by_quarters
from heedful.decoding.sampling import Chance, mixed, sample
from heedful.errors import UsageError
from heedful.presets.base import Decode


def decode(
    model: Decodable,
    batch: Batch,
    config: Decode,
    prefix: Sequence[Sequence[int]] | None = None,
    seed: int | Sequence[int] = 0,
    recorded: Recorded | None = None,
) -> list[list[Hypothesis]]:
    """The best hypotheses of each row, best first: at most `config.nbest`, at least one.

    `prefix` holds ids that each row's output must begin with; they are part of the output and of
    its score. `seed` is for sampling: one number, from which each row gets its own, or one a row.
    `recorded` is the model with its steps recorded, where that is wanted.
    """
    check(config)
    rows = batch_rows(batch)
    if rows == 0:
        return []
    device = next(iter(batch.features.values())).ids.device
    forced = Prefix.of(prefix, rows, device)
    limits = output_limits(model, batch, config.extra_length, prefix)
    # What is recorded does not tell what it looks at.
    steps = recorded if recorded and not (config.coverage or recorded.watched) else model

    def search() -> list[list[Hypothesis]]:
        return _search(steps, batch, limits, forced, config, seed)

    with torch.inference_mode(), at_rest(model), _on(device):
        return steps.safely(search) if isinstance(steps, Recorded) else search()


def _on(device: torch.device) -> AbstractContextManager[object]:
    """Kernels are started, and recorded, on the GPU where the batch is."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def _search(
    steps: Decodable,
    batch: Batch,
    limits: Sequence[int],
    prefix: Prefix,
    config: Decode,
    seed: int | Sequence[int],
) -> list[list[Hypothesis]]:
    leave = by_quarters if isinstance(steps, Recorded) else by_eighths
    if config.sample and config.temperature > 0:
        chance = Chance(config.temperature, config.top_k, config.top_p)
        seeds = [mixed(seed, r) for r in range(len(limits))] if isinstance(seed, int) else seed
        return sample(
            steps, batch, limits, prefix, chance, seeds, config.alpha, config.nbest, leave
        )
    greedy = config.sample or config.beam == 1
    if isinstance(steps, Recorded):  # with a beam of 1 it is greedy search
        config = replace(config, beam=1) if greedy else config
        return recorded_beam.beam_search(steps, batch, limits, prefix, config)
    if greedy and config.coverage == 0:
        return greedy_search(steps, batch, limits, prefix, config.alpha, leave)
    return beam_search(steps, batch, limits, prefix, config)


def check(config: Decode) -> None:
    """Say what is wrong with a `Decode` before any work is done."""
    lowest = {
        "beam": 1,
        "nbest": 1,
        "coverage": 0,
        "prune": 0,
        "extra_length": 0,
        "temperature": 0,
        "top_k": 0,
    }
    for name, least in lowest.items():
        if getattr(config, name) < least:
            raise UsageError(f"decode.{name} must be at least {least}, got {getattr(config, name)}")
    if not 0 < config.top_p <= 1:
        raise UsageError(f"decode.top_p must be above 0 and at most 1, got {config.top_p}")
    if not config.sample and config.nbest > config.beam:
        raise UsageError(
            f"decode.nbest={config.nbest} needs a beam at least as wide, "
            f"and decode.beam is {config.beam}"
        )
    if config.sample and config.temperature == 0 and config.nbest > 1:
        raise UsageError(
            f"a temperature of 0 always says the same, so decode.nbest must be 1, "
            f"got {config.nbest}"
        )


@contextmanager
def at_rest(model: Decodable) -> Iterator[None]:
    """While open, the model is in eval mode (no dropout); after, as it was."""
    training = isinstance(model, nn.Module) and model.training
    if training:
        model.eval()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        if training:
            model.train()  # type: ignore[attr-defined]

"""A turn of beam search after the model has spoken, by kernels of our own in Triton.

What beam.py does with a state, in place: logits are read once, log-probabilities are never written,
and all that becomes of the candidates is one program a row. Values are compared as beam.py compares
them, equals by place; only the sum under a log-probability is added up in another order, so that
log-probabilities may differ in the last digits of float32.
B rows, K growing hypotheses a row, T room, V vocabulary.
"""

from dataclasses import replace
from functools import cache

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.beam import BeamState, begin, choice
from heedful.decoding.prefix import Prefix
from heedful.decoding.scores import NEVER, length_penalty
from heedful.nn.kernels.relative import nowhere
from heedful.nn.kernels.step import DTYPES, tried
from heedful.nn.stacks import mapped
from heedful.presets.base import Decode

GROUP = 64  # ids of which the best is noted
MANY = 64  # groups of a chunk
WIDEST = 16_384  # groups of all hypotheses of a row, that one program can go through
BLOCK = 64  # tokens that are moved at a time
TRIAL = 64  # tokens that the trial's output may have
NEAR = 1e-3


def trusted(logits: Tensor, config: Decode) -> bool:
    """Whether the kernels can be used for logits [B * K, V] like these."""
    return not refusal(logits.device, logits.dtype, logits.shape[1], config)


@cache
def refusal(device: torch.device, dtype: torch.dtype, size: int, config: Decode) -> str:
    """Why the kernels are not used here; nothing where they are. They are tried first, on a few
    numbers."""
    if dtype not in DTYPES:
        return f"computes in float32 and half precision, and this is {dtype}"
    if config.prune:
        return "prunes nothing, and decode.prune is set"
    if _power(config.beam) * _power(-(-size // GROUP)) > WIDEST:
        return f"has no room for {config.beam} times {size} candidates"
    return nowhere(device.type) or tried(lambda: _trial(device, dtype, size, config), device)


def _trial(device: torch.device, dtype: torch.dtype, size: int, config: Decode) -> bool:
    """Whether a turn of one row ends as it does in beam.py."""

    def logits(rows: int) -> Tensor:
        numbers = torch.arange(rows * size, device=device)
        return (5 * (numbers * 0.37).sin() + (numbers * 0.11).sin()).view(rows, size).to(dtype)

    plain = begin(Batch({}), [TRIAL], Prefix.of(None, 1, device), config)
    while plain.tokens.shape[1] < config.beam or plain.step == 0:
        plain, *_ = choice(logits(plain.tokens.shape[1]), plain, config)
    ours, x = standing(plain), logits(config.beam)
    order = torch.zeros(config.beam, dtype=torch.long, device=device)
    done, failed = torch.zeros(1, dtype=torch.bool, device=device), order[:1] - 1
    Chooser(ours, order, done, failed, config)(x)
    plain, _, over, _ = choice(x, plain, config)
    live, there = plain.growing.total > NEVER, plain.finished.score > NEVER
    near = [  # not ids: of equals, either may be the higher by the last digit
        (ours.growing.total[live], plain.growing.total[live]),
        (ours.growing.token_scores[live], plain.growing.token_scores[live]),
        (ours.finished.score[there], plain.finished.score[there]),
    ]
    fine = all(bool(((one - other).abs() < NEAR).all()) for one, other in near)
    return fine and bool((done == over).all()) and bool((failed < 0).all())


def standing(state: BeamState) -> BeamState:
    """A copy of a state, to be written in place."""
    step = torch.full((1,), int(state.step), device=state.limits.device)
    copied: BeamState = mapped(_copy, replace(state, step=step))
    return copied


def _copy(x: Tensor) -> Tensor:
    return x.clone(memory_format=torch.contiguous_format)


class Chooser:
    """Turns of one search; the state, and what is told of it, stay where they are."""

    def __init__(
        self, state: BeamState, order: Tensor, done: Tensor, failed: Tensor, config: Decode
    ) -> None:
        self.state, self.order, self.done, self.failed = state, order, done, failed
        self.config = config
        lengths = torch.arange(state.growing.ids.shape[2] + 2, device=order.device)
        self.penalty = length_penalty(lengths.float(), config.alpha)

    def __call__(self, logits: Tensor) -> None:
        """One more token in every row, of logits [B * K, V]: the state, the order in which rows of
        a memory are to be put [B * K], which rows are done [B], and at which step the model first
        said nothing that is a number [B]."""
        from heedful.decoding.choosing_kernels import choose, survey

        state, beam, nbest = self.state, self.config.beam, self.config.nbest
        growing, finished = state.growing, state.finished
        rows, size = logits.shape
        groups, chunks = -(-size // GROUP), -(-size // (GROUP * MANY))
        maxima, level, powers = (
            torch.empty(rows, width, device=logits.device) for width in (groups, chunks, chunks)
        )
        survey[(rows, chunks)](
            logits, maxima, level, powers, logits.stride(0), size, groups, chunks,
            GROUP=GROUP, MANY=MANY, num_warps=4,
        )  # fmt: skip
        candidates = 2 * beam if beam > 1 else 1
        choose[(len(state.limits),)](
            logits, maxima, level, powers, self.penalty, state.step, state.limits,
            state.tokens, growing.total, growing.ids, growing.token_scores,
            finished.ids, finished.token_scores, finished.score, finished.length,
            finished.ended.view(torch.uint8), self.order, self.done.view(torch.uint8), self.failed,
            logits.stride(0), size, groups, chunks, growing.ids.shape[2],
            K=beam, KS=_power(beam), C=candidates, CS=_power(candidates), N=nbest,
            NS=_power(nbest), GROUP=GROUP, GROUPS=_power(groups), CHUNKS=_power(chunks),
            BLOCK=BLOCK, num_warps=4 if _power(beam) * _power(groups) <= 4096 else 8,
        )  # fmt: skip
        assert isinstance(state.step, Tensor)
        state.step.add_(1)


def _power(count: int) -> int:
    """The power of 2 that holds so many."""
    return 1 << (count - 1).bit_length()

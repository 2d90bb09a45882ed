"""A turn of beam search after the model has spoken, by kernels of our own in Triton.

What beam.py does with a state, in place: logits are read once, log-probabilities are never written,
and all that becomes of the candidates is one program a row. Values are compared as beam.py compares
them, equals by place; only the sum under a log-probability is added up in another order, so that
log-probabilities may differ in the last digits of float32.
B rows, K growing hypotheses a row, T room, V vocabulary.
"""

import torch
from torch import Tensor

from heedful.decoding.beam import BeamState
from heedful.decoding.scores import length_penalty
from heedful.nn.kernels.relative import nowhere
from heedful.presets.base import Decode

GROUP = 64  # ids of which the best is noted
MANY = 64  # groups of a chunk
WIDEST = 16_384  # groups of all hypotheses of a row, that one program can go through
BLOCK = 64  # tokens that are moved at a time


def able(logits: Tensor, beam: int) -> bool:
    """Whether the kernels can be used for logits [B * K, V] like these."""
    groups = _power(-(-logits.shape[-1] // GROUP))
    return (
        logits.dtype in (torch.float32, torch.bfloat16, torch.float16)
        and _power(beam) * groups <= WIDEST
        and not nowhere(logits.device.type)
    )


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

"""The softmax of many scores and the gradient by them in two passes, for a GPU: the second reads
what the first left in the cache. N tokens, V vocabulary."""

from typing import no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 8_192  # scores of a token at a time, at most
NARROWEST = 64  # at least
WARPS = 16  # so many that few programs run at a time, and the cache holds all their tokens' scores
BESIDE = tl.constexpr(8)  # scores that a thread has beside each other: sixteen bytes of bf16
LOG2_E = tl.constexpr(1.4426950408889634)  # exponentials of 2 are the quick ones


@triton.jit
@no_type_check
def _softmax_slopes(
    score_ptr, true_ptr, slope_ptr, likely_ptr, norm_ptr,
    LABELS: tl.constexpr, AMOUNT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A program a token. Sums are kept apart for each thread of a block until all are seen: then
    nobody waits, and there is an exponential a score, and one more for some of them together."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK // BESIDE)[:, None] * BESIDE + tl.arange(0, BESIDE)[None, :]
    score_ptr += row * LABELS
    slope_ptr += row * LABELS
    true = tl.load(true_ptr + row)
    highest = tl.full([BLOCK // BESIDE], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK // BESIDE], tl.float32)
    for first in range(0, LABELS, BLOCK):
        here = first + column
        score = tl.load(
            score_ptr + here, mask=here < LABELS, other=-float("inf"), eviction_policy="evict_last"
        )
        score = score.to(tl.float32) * LOG2_E
        higher = tl.maximum(highest, tl.max(score, 1))
        level = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp2(highest - level) + tl.sum(tl.exp2(score - level[:, None]), 1)
        highest = higher
    top = tl.max(highest, 0)
    norm = top + tl.log2(tl.sum(total * tl.exp2(highest - top), 0))
    tl.store(norm_ptr + row, norm / LOG2_E)
    tl.store(likely_ptr + row, tl.load(score_ptr + true).to(tl.float32) - norm / LOG2_E)
    for first in range(0, LABELS, BLOCK):
        here = first + column
        score = tl.load(
            score_ptr + here, mask=here < LABELS, other=-float("inf"), eviction_policy="evict_first"
        )
        share = tl.exp2(score.to(tl.float32) * LOG2_E - norm)
        slope = tl.where(here == true, share + AMOUNT, share)
        tl.store(slope_ptr + here, slope.to(slope_ptr.dtype.element_ty), mask=here < LABELS)


@torch.library.triton_op("heedful::softmax_slopes", mutates_args={})
def softmax_slopes(scores: Tensor, true: Tensor, amount: float) -> tuple[Tensor, Tensor, Tensor]:
    """Of scores [N, V] the softmax with `amount` added at the true label; the true labels'
    log-probabilities, [N]; and the logarithm of the sum that scores are divided by, [N]."""
    tokens, labels = scores.shape
    slope = torch.empty_like(scores)
    likely, norm = (
        torch.empty(tokens, dtype=torch.float32, device=scores.device) for _ in range(2)
    )
    torch.library.wrap_triton(_softmax_slopes)[(tokens,)](
        scores, true, slope, likely, norm, labels, amount,
        BLOCK=max(NARROWEST, min(BLOCK, triton.next_power_of_2(labels))), num_warps=WARPS,
    )  # fmt: skip
    return slope, likely, norm

"""The numbers a search compares: log-probabilities, the length penalty, and the best few of many.

B rows, V vocabulary.
"""

from typing import TypeVar

import torch
from torch import Tensor

from heedful.decoding.protocol import RowError
from heedful.text.specials import EOS, PAD

Length = TypeVar("Length", float, Tensor)

NEVER = float("-inf")


def length_penalty(length: Length, alpha: float) -> Length:
    """((5 + length) / 6) ** alpha, the end symbol counted in `length`.

    Wu et al., "Google's Neural Machine Translation System", 2016, https://arxiv.org/abs/1609.08144,
    equation 14. With alpha 0 it is 1: plain log-probability.
    """
    penalty: Length = ((5 + length) / 6) ** alpha
    return penalty


def log_probabilities(logits: Tensor) -> Tensor:
    """Logits [..., V] of any dtype as float32 log-probabilities, none above 0; padding never comes.

    Where the logits hold NaN or +inf, or are all -inf, the whole row of V is NaN but for padding.
    """
    scores = torch.log_softmax(logits.float(), dim=-1)
    scores[..., PAD] = NEVER
    return scores


def not_numbers(log_probs: Tensor) -> Tensor:
    """True where `log_probabilities` was given no numbers; one element tells of all, [...]."""
    return log_probs[..., EOS].isnan()


def no_number(row: int, step: int) -> RowError:
    """The error for a row whose next token the model says nothing about."""
    return RowError(
        row,
        f"at token {step + 1} the model's logits are NaN or infinite. "
        "Use an earlier checkpoint, or decode in fp32",
    )


def top(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The best `count` of the last dim and their places, best first; among equals the first place.

    `Tensor.topk` leaves the choice and the order of equals to the device, and equals are common in
    half precision. So the places of those equal to the worst chosen are looked up, and then all
    are put in order.
    """
    best, places = scores.topk(count)
    worst = best[..., -1:]
    equals = (scores == worst).cumsum(dim=-1, dtype=torch.int32)  # the n-th is where this turns n
    above = (best > worst).sum(dim=-1, keepdim=True)
    wanted = torch.arange(1, count + 1, device=scores.device) - above
    first = torch.searchsorted(equals, wanted.int().clamp(min=1))
    first = first.clamp(max=scores.shape[-1] - 1)  # NaN equals nothing, and must stay in bounds
    places = torch.where(best > worst, places, first).sort(dim=-1).values
    best, order = scores.gather(-1, places).sort(dim=-1, descending=True, stable=True)
    return best, places.gather(-1, order)

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
GROUP = 64  # places that are looked through together for the best few


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
    half precision. Where the last that is chosen has an equal that is not, the places of its equals
    are looked up; then all are put in order.
    """
    more = min(count + 1, scores.shape[-1])
    found, places = _largest(scores, more)
    best, places = found[..., :count], places[..., :count]
    if more > count and (scores.is_cuda or not bool((best[..., -1] > found[..., -1]).all())):
        places = _first_of_equals(scores, best, places)  # a GPU does it sooner than say if it must
    places = places.sort(dim=-1).values
    best, order = scores.gather(-1, places).sort(dim=-1, descending=True, stable=True)
    return best, places.gather(-1, order)


def _largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `Tensor.topk`, and on a CPU faster: first the groups of places with the largest maxima,
    then the largest of these groups' places, among which they must be."""
    groups = scores.shape[-1] // GROUP
    if scores.is_cuda or groups <= 2 * count:
        return scores.topk(count)
    whole = scores[..., : groups * GROUP].unflatten(-1, (groups, GROUP))
    chosen = whole.amax(-1).topk(count, sorted=False).indices
    places = (chosen[..., None] * GROUP + torch.arange(GROUP)).flatten(-2)
    rest = torch.arange(groups * GROUP, scores.shape[-1]).expand(*scores.shape[:-1], -1)
    places = torch.cat([places, rest], -1)
    best, order = scores.gather(-1, places).topk(count)
    return best, places.gather(-1, order)


def _first_of_equals(scores: Tensor, best: Tensor, places: Tensor) -> Tensor:
    """The places of the best; of those equal to the worst of them, the first that there are."""
    worst = best[..., -1:]
    equals = (scores == worst).cumsum(dim=-1, dtype=torch.int32)  # the n-th is where this turns n
    above = (best > worst).sum(dim=-1, keepdim=True)
    wanted = torch.arange(1, best.shape[-1] + 1, device=scores.device) - above
    first = torch.searchsorted(equals, wanted.int().clamp(min=1))
    first = first.clamp(max=scores.shape[-1] - 1)  # NaN equals nothing, and must stay in bounds
    return torch.where(best > worst, places, first)

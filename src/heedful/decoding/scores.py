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
    On a CPU they may be written over the logits, which is faster than to fill memory anew.
    """
    wide = logits.float()
    there = wide.device.type == "cpu" and not wide.requires_grad
    scores = torch.log_softmax(wide, dim=-1, out=wide if there else None)
    scores[..., PAD] = NEVER
    return scores


def near_best(log_probs: Tensor, prune: float) -> Tensor:
    """Log-probabilities [..., V] without those more than `prune` below the best; with 0, all."""
    if not prune:
        return log_probs
    return log_probs.masked_fill(log_probs < log_probs.amax(-1, keepdim=True) - prune, NEVER)


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
    half precision. On a CPU, where the last that is chosen has an equal that is not, the places of
    its equals are looked up; then all are put in order.
    """
    if scores.is_cuda:
        return ranked(scores, count)
    more = min(count + 1, scores.shape[-1])
    found, places = _largest(scores, more)
    best, places = found[..., :count], places[..., :count]
    if more > count and not bool((best[..., -1] > found[..., -1]).all()):
        places = _first_of_equals(scores, best, places)
        best = scores.gather(-1, places)
    return _in_order(best, places)


def top_sums(before: Tensor, scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `top` of all `before[..., None] + scores`, [..., K] and [..., K, V], in one row.

    On a CPU few of them are added up: a group's highest sum is that of its highest score.
    """
    size, more = scores.shape[-1], count + 1
    groups, short = size // GROUP, -size % GROUP  # the last group begins so much in the one before
    if scores.is_cuda or groups <= 2 * more:
        return top((before[..., None] + scores).flatten(-2), count)
    maxima = _all_maxima(scores)
    chosen = (before[..., None] + maxima).flatten(-2).topk(more, sorted=False).indices
    whose, group = chosen // maxima.shape[-1], chosen % maxima.shape[-1]
    first = whose * size + (group * GROUP).clamp(max=size - GROUP)
    places = first[..., None] + torch.arange(GROUP)
    sums = scores.flatten(-2).gather(-1, places.flatten(-2)).view(places.shape)
    sums += before.gather(-1, whose)[..., None]
    if short:
        sums[..., :short].masked_fill_((group == groups)[..., None], NEVER)
    found, order = sums.flatten(-2).topk(more)
    if not bool((found[..., :-1] > found[..., 1:]).all()):  # equals: all must be looked at
        return top((before[..., None] + scores).flatten(-2), count)
    return found[..., :count], places.flatten(-2).gather(-1, order[..., :count])


def likeliest(scores: Tensor) -> Tensor:
    """The place of the best of each row of V, [B]; among equals the first, by the contract of torch
    and of numpy, which is quicker."""
    if scores.device.type != "cpu":
        return scores.argmax(dim=-1)
    return torch.from_numpy(scores.detach().numpy().argmax(axis=-1))


def _in_order(best: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """Values and their places, best first; among equals the first place."""
    places, order = places.sort(dim=-1)
    best, order = best.gather(-1, order).sort(dim=-1, descending=True, stable=True)
    return best, places.gather(-1, order)


def ranked(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `top`, without waiting for the device: each place is read once.

    The best `count` lie in the `count` groups of places with the best maxima, the first of equal
    groups: any other group has `count` places before it.
    """
    groups = scores.shape[-1] // GROUP
    if groups <= 2 * count:
        best, places = scores.sort(dim=-1, descending=True, stable=True)
        return best[..., :count], places[..., :count]
    maxima = _maxima(scores, groups)
    places = _places(ranked(maxima, count)[1].sort(dim=-1).values, groups, scores)
    best, order = scores.gather(-1, places).sort(dim=-1, descending=True, stable=True)
    return best[..., :count], places.gather(-1, order[..., :count])


def _largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `Tensor.topk`, and on a CPU faster: first the groups of places with the largest maxima,
    then the largest of these groups' places, among which they must be."""
    groups = scores.shape[-1] // GROUP
    if groups <= 2 * count:
        return scores.topk(count)
    maxima = _maxima(scores, groups)
    places = _places(maxima.topk(count, sorted=False).indices, groups, scores)
    best, order = scores.gather(-1, places).topk(count)
    return best, places.gather(-1, order)


def _maxima(scores: Tensor, groups: int) -> Tensor:
    """The highest of each whole group of places."""
    return scores[..., : groups * GROUP].unflatten(-1, (groups, GROUP)).amax(-1)


def _all_maxima(scores: Tensor) -> Tensor:
    """As `_maxima`, and of the places at the end that make no whole group."""
    groups = scores.shape[-1] // GROUP
    maxima, rest = _maxima(scores, groups), scores[..., groups * GROUP :]
    return torch.cat([maxima, rest.amax(-1, keepdim=True)], -1) if rest.shape[-1] else maxima


def _places(chosen: Tensor, groups: int, scores: Tensor) -> Tensor:
    """The places of the chosen groups, and those at the end that make no whole group."""
    inside = torch.arange(GROUP, device=scores.device)
    rest = torch.arange(groups * GROUP, scores.shape[-1], device=scores.device)
    places = (chosen[..., None] * GROUP + inside).flatten(-2)
    return torch.cat([places, rest.expand(*scores.shape[:-1], -1)], -1)


def _first_of_equals(scores: Tensor, best: Tensor, places: Tensor) -> Tensor:
    """The places of the best; of those equal to the worst of them, the first that there are."""
    worst = best[..., -1:]
    equals = (scores == worst).cumsum(dim=-1, dtype=torch.int32)  # the n-th is where this turns n
    above = (best > worst).sum(dim=-1, keepdim=True)
    wanted = torch.arange(1, best.shape[-1] + 1, device=scores.device) - above
    first = torch.searchsorted(equals, wanted.int().clamp(min=1))
    first = first.clamp(max=scores.shape[-1] - 1)  # NaN equals nothing, and must stay in bounds
    return torch.where(best > worst, places, first)

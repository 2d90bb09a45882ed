"""Mixing: how often each member of a mixture comes up in an epoch, by a temperature.

Arivazhagan et al., "Massively Multilingual Neural Machine Translation in the Wild: Findings and
Challenges", 2019, https://arxiv.org/abs/1907.05019: a member of n examples is drawn with p
proportional to n^(1/T). T = 1 keeps the natural sizes; the higher T is, the more equal the members.

An epoch is as many examples as there are. A member's share of them is p, rounded so that shares add
up: the whole member as often as it fits in, and for the rest some of it, drawn without replacement
and anew each epoch. Departs from the paper: there every example is drawn for itself.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

from heedful.data.parts import Draws
from heedful.data.shards import Indices


def shares(sizes: Sequence[int], temperature: float) -> list[int]:
    """How many examples of each member an epoch has; all together as many as there are.

    In decimals, whose logarithms are the same on every machine.
    """
    total = sum(sizes)
    with localcontext(prec=28):
        weights = [(Decimal(size).ln() / Decimal(temperature)).exp() for size in sizes]
        exact = [total * weight / sum(weights) for weight in weights]
        counts = [int(share) for share in exact]
        by_rest = sorted(range(len(sizes)), key=lambda i: (counts[i] - exact[i], i))
    for i in by_rest[: total - sum(counts)]:
        counts[i] += 1
    return counts


def draw(groups: Sequence[Indices], counts: Sequence[int], draws: Draws) -> Indices:
    """The examples of one epoch, member by member: `counts[i]` of `groups[i]`."""
    chosen: list[Indices] = []
    for group, count in zip(groups, counts, strict=True):
        whole, rest = divmod(count, len(group))
        chosen += [group] * whole
        chosen.append(group[draws.order(len(group))[:rest]])
    return np.concatenate(chosen)

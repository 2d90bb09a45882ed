"""Adaptive softmax: frequent words first, rare ones in clusters that few tokens ever look into.

Grave, Joulin, Cissé, Grangier and Jégou, "Efficient softmax approximation for GPUs", ICML 2017,
https://arxiv.org/abs/1609.04309. It is no approximation of the softmax but another model, whose
probabilities add up to one: P(word) = P(its cluster) · P(word | cluster).

Which tokens look into a cluster is only known from the tokens, so a step waits for the device and
is not recorded. N tokens, D model, V vocabulary.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.nn.losses import Loss, Objective
from heedful.nn.products import Linear


@dataclass(frozen=True, kw_only=True)
class Adaptive(Objective, kind="adaptive"):
    """Clusters of ever rarer words, each with vectors that are so many times narrower."""

    waits: ClassVar[bool] = True
    cutoffs: tuple[int, ...] = (2_000, 10_000)  # the id that each cluster of rare words begins at
    narrower: float = 4.0

    def __post_init__(self) -> None:
        if list(self.cutoffs) != sorted({*self.cutoffs}) or any(c < 1 for c in self.cutoffs):
            raise UsageError(f"loss.cutoffs must be 1 or more and rise, got {self.cutoffs}")
        if self.narrower < 1:
            raise UsageError(f"loss.narrower must be 1 or more, got {self.narrower}")


class Clusters(nn.Module):
    """The weights: a row for each frequent word and each cluster, and for each cluster a map to
    fewer dimensions and a row for each of its words."""

    def __init__(self, size: int, dim: int, config: Adaptive) -> None:
        super().__init__()
        edges = [c for c in config.cutoffs if c < size]
        self.edges = [*edges, size]
        self.first = Linear(dim, self.edges[0] + len(edges), bias=False)
        self.narrow = nn.ModuleList()
        self.rare = nn.ModuleList()
        for number, (begin, end) in enumerate(zip(edges, self.edges[1:], strict=True), start=1):
            inside = max(1, int(dim // config.narrower**number))
            self.narrow.append(Linear(dim, inside, bias=False))
            self.rare.append(Linear(inside, end - begin, bias=False))
        for layer in (self.first, *self.rare):
            assert isinstance(layer, nn.Linear)
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)

    def forward(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """The log-probability of every word."""
        first = _log_softmax(self.first(x))
        frequent = self.edges[0]
        found = [first[..., :frequent]]
        for number, (narrow, rare) in enumerate(zip(self.narrow, self.rare, strict=True)):
            inside = _log_softmax(rare(narrow(x)))
            found.append(inside + first[..., frequent + number, None])
        return torch.cat(found, -1)

    def loss(
        self, x: Float[Tensor, "N D"], targets: Int[Tensor, "N"], real: Bool[Tensor, "N"]
    ) -> Loss:
        """The same probabilities for the true words alone, each looked for in its cluster only."""
        x, targets = x[real], targets[real]
        frequent = self.edges[0]
        edges = torch.tensor(self.edges[:-1], device=x.device)
        cluster = torch.bucketize(targets, edges, right=True)  # 0 for frequent words
        slots = torch.where(cluster == 0, targets, frequent - 1 + cluster)
        nll = -_log_softmax(self.first(x)).gather(1, slots[:, None]).sum()
        for number, (narrow, rare) in enumerate(zip(self.narrow, self.rare, strict=True)):
            rows = (cluster == number + 1).nonzero()[:, 0]
            inside = _log_softmax(rare(narrow(x[rows])))
            nll = nll - inside.gather(1, (targets[rows] - self.edges[number])[:, None]).sum()
        return Loss(nll, real.sum(), nll.detach())


def _log_softmax(scores: Tensor) -> Tensor:
    wide = scores.float() if scores.dtype.itemsize < 4 else scores
    return wide.log_softmax(-1)

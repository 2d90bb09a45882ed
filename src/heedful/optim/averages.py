"""Averages of weights: a moving one kept while training, and the mean of several sets."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class MovingAverage:
    """An exponential moving average of a model's parameters, kept beside them.

    The decay is min(decay, (1 + t) / (10 + t)) at step t, as in TensorFlow's, so that the first
    weights, which are noise, are soon forgotten. Polyak and Juditsky, "Acceleration of Stochastic
    Approximation by Averaging", 1992.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self._of = dict(model.named_parameters())
        self.weights = {name: p.detach().clone() for name, p in self._of.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Move a little towards the parameters as they are after step `step`."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(list(self.weights.values()), list(self._of.values()), 1.0 - decay)

    @torch.no_grad()
    def load(self, weights: dict[str, Tensor]) -> None:
        """Go on from an average that was saved."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While this lasts the model has the average for its weights; then its own come back."""
        own = [p.detach().clone() for p in self._of.values()]
        try:
            self._fill(self.weights.values())
            yield
        finally:
            self._fill(own)

    @torch.no_grad()
    def _fill(self, weights: Iterable[Tensor]) -> None:
        for parameter, weight in zip(self._of.values(), weights, strict=True):
            parameter.copy_(weight)


def mean(tensors: Sequence[Tensor]) -> Tensor:
    """The arithmetic mean, summed in float64, in the tensors' type; of whole numbers, the last."""
    last = tensors[-1]
    if not last.is_floating_point():
        return last
    total = torch.zeros(last.shape, dtype=torch.float64)
    for tensor in tensors:
        total += tensor
    return (total / len(tensors)).to(last.dtype)

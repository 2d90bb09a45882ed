"""Optimisers as configs: numbers that build a `torch.optim.Optimizer`."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

import torch
from torch.nn import Parameter

from heedful.config import Choice


class Optim(Choice, ABC):
    """How gradients become steps. The learning rate is not here: a `Schedule` says it."""

    @abstractmethod
    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        """The optimiser over these parameters; the trainer sets its rate before every step."""

"""Windows: where in the source a decoder may look at a step.

Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine Translation",
EMNLP 2015, https://arxiv.org/abs/1508.04025, sections 3.1 and 3.2. B batch, Q queries, K keys.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.config import Choice
from heedful.errors import UsageError
from heedful.nn.initial import linear


class Window(Choice, ABC):
    """Which window (`--set model.window=predictive model.window.width=10`)."""

    @abstractmethod
    def build(self, query: int) -> "Frame":
        """Its weights, for queries of this width."""


class Frame(nn.Module, ABC):
    """A window's weights."""

    @abstractmethod
    def forward(
        self,
        q: Float[Tensor, "B Q D"],
        place: Int[Tensor, "B Q"],
        places: Int[Tensor, "B K"],
        visible: Bool[Tensor, "B Q K"],
    ) -> tuple[Bool[Tensor, "B Q K"], Tensor | None]:
        """Which of the visible keys are in the window, and what their weights are multiplied by.
        `place` is where the queries stand, `places` where the keys do."""


@dataclass(frozen=True, kw_only=True)
class Everywhere(Window, kind="global"):
    """The whole source."""

    def build(self, query: int) -> "Frame":
        return Open()


@dataclass(frozen=True, kw_only=True)
class Monotonic(Window, kind="monotonic"):
    """Round the place in the source that is as far on as the target is (Luong's local-m)."""

    width: int = 0  # how far it reaches to either side; Luong's is 10

    def build(self, query: int) -> "Frame":
        return MovingOn(_checked(self.kind, self.width))


@dataclass(frozen=True, kw_only=True)
class Predictive(Window, kind="predictive"):
    """Round a place that the decoder chooses (Luong's local-p): p = S σ(v · tanh(W q)). Weights
    fall off as a bell round it and are not normalised again, so that p can be learnt."""

    width: int = 0  # how far it reaches to either side; Luong's is 10
    spread: float = 0.0  # the bell's standard deviation; 0 for half of `width`

    def build(self, query: int) -> "Frame":
        width = _checked(self.kind, self.width)
        return Choosing(query, width, self.spread or width / 2)


def _checked(kind: str, width: int) -> int:
    if width < 1:
        raise UsageError(
            f"window '{kind}' needs a width of 1 or more, got {width}. "
            "Set window.width, for example to 10"
        )
    return width


class Open(Frame):
    def forward(
        self,
        q: Float[Tensor, "B Q D"],
        place: Int[Tensor, "B Q"],
        places: Int[Tensor, "B K"],
        visible: Bool[Tensor, "B Q K"],
    ) -> tuple[Bool[Tensor, "B Q K"], Tensor | None]:
        return visible, None


class MovingOn(Frame):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(
        self,
        q: Float[Tensor, "B Q D"],
        place: Int[Tensor, "B Q"],
        places: Int[Tensor, "B K"],
        visible: Bool[Tensor, "B Q K"],
    ) -> tuple[Bool[Tensor, "B Q K"], Tensor | None]:
        return visible & ((places[:, None] - place[..., None]).abs() <= self.width), None


class Choosing(Frame):
    def __init__(self, query: int, width: int, spread: float) -> None:
        super().__init__()
        self.width, self.spread = width, spread
        self.to_hidden = linear(query, query, bias=False)
        self.to_place = linear(query, 1, bias=False)

    def forward(
        self,
        q: Float[Tensor, "B Q D"],
        place: Int[Tensor, "B Q"],
        places: Int[Tensor, "B K"],
        visible: Bool[Tensor, "B Q K"],
    ) -> tuple[Bool[Tensor, "B Q K"], Tensor | None]:
        share = torch.sigmoid(self.to_place(torch.tanh(self.to_hidden(q))))
        centre = visible.sum(-1, keepdim=True) * share
        away = places[:, None] - centre
        bell = torch.exp(-(away**2) / (2 * self.spread**2))
        return visible & (away.abs() <= self.width), bell

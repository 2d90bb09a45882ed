"""Who may look at whom. A pattern is a predicate on positions and segments, never on tensor sizes,
so causal masks, padding, packing, windows and step-by-step decoding are the same code.

B batch, Q queries, K keys.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from typing import ClassVar

from jaxtyping import Bool
from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.nn.layout import Layout


class Pattern(ABC):
    """A rule for who may look at whom: a value, equal when it says the same, joined by `&`."""

    named: ClassVar[dict[str, type["Pattern"]]] = {}

    def __init_subclass__(cls, name: str | None = None) -> None:
        if name is not None:
            Pattern.named[name] = cls

    @abstractmethod
    def allows(self, q: Layout, k: Layout) -> Tensor:
        """True where `q` may look at `k`, element by element, for layouts that broadcast."""

    def __call__(self, q: Layout, k: Layout) -> Bool[Tensor, "B Q K"]:
        return self.allows(
            Layout(q.positions[:, :, None], q.segments[:, :, None]),
            Layout(k.positions[:, None, :], k.segments[:, None, :]),
        )

    def __and__(self, other: "Pattern") -> "Pattern":
        return self if isinstance(other, Full) else Both(self, other)


@dataclass(frozen=True)
class Both(Pattern):
    """What two patterns both allow."""

    one: Pattern
    other: Pattern

    def allows(self, q: Layout, k: Layout) -> Tensor:
        return self.one.allows(q, k) & self.other.allows(q, k)


@dataclass(frozen=True)
class Full(Pattern, name="full"):
    """Look everywhere."""

    def allows(self, q: Layout, k: Layout) -> Tensor:
        return (q.positions == q.positions) & (k.positions == k.positions)


@dataclass(frozen=True)
class Visible(Pattern, name="visible"):
    """Look at one's own sequence only. Every attention joins this to its pattern."""

    def allows(self, q: Layout, k: Layout) -> Tensor:
        return q.segments == k.segments


@dataclass(frozen=True)
class Causal(Pattern, name="causal"):
    """Look at oneself and behind."""

    def allows(self, q: Layout, k: Layout) -> Tensor:
        return q.positions >= k.positions


@dataclass(frozen=True)
class Near(Pattern, name="near"):
    """Look at most `back` behind and `ahead` in front."""

    back: int
    ahead: int = 0

    def allows(self, q: Layout, k: Layout) -> Tensor:
        behind = q.positions - k.positions
        return (behind <= self.back) & (behind >= -self.ahead)


@dataclass(frozen=True)
class InBlocks(Pattern, name="in_blocks"):
    """Look within one's own block of `size` positions and the `back` blocks before it."""

    size: int
    back: int = 1

    def allows(self, q: Layout, k: Layout) -> Tensor:
        behind = q.positions // self.size - k.positions // self.size
        return (behind >= 0) & (behind <= self.back)


@dataclass(frozen=True)
class Dilated(Pattern, name="dilated"):
    """Look at positions a whole number of `gap`s away."""

    gap: int

    def allows(self, q: Layout, k: Layout) -> Tensor:
        return (q.positions - k.positions) % self.gap == 0


def terms(pattern: Pattern) -> list[Pattern]:
    """The patterns that one is joined of."""
    if isinstance(pattern, Both):
        return terms(pattern.one) + terms(pattern.other)
    return [pattern]


@cache
def of_places(pattern: Pattern) -> bool:
    """Whether it asks where tokens stand, and not only whose they are."""
    return not all(isinstance(term, Visible | Full) for term in terms(pattern))


@cache
def looks_back(pattern: Pattern) -> bool:
    """Whether everything behind oneself in one's own sequence may be looked at."""
    return all(isinstance(term, Visible | Full | Causal) for term in terms(pattern))


def parse_pattern(text: str) -> Pattern:
    """A pattern as a setting writes it: `near:64`, `near:8:8`, `causal&dilated:4`."""
    joined: Pattern | None = None
    for part in text.split("&"):
        name, *numbers = part.strip().split(":")
        if name not in Pattern.named:
            raise UsageError(
                f"no attention pattern named '{name}'.{nearest(name, Pattern.named)} "
                f"There are: {', '.join(Pattern.named)}"
            )
        kind = Pattern.named[name]
        try:
            one = kind(*(int(number) for number in numbers))
        except (TypeError, ValueError):
            wants = ":".join([name, *(f.name.upper() for f in fields(kind))])  # type: ignore[arg-type]
            raise UsageError(
                f"cannot read attention pattern '{part.strip()}'; it is {wants}"
            ) from None
        joined = one if joined is None else joined & one
    assert joined is not None  # "".split gives one part, which has no name and has raised
    return joined

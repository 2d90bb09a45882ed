"""Looking at attention while it works, without slowing anything when nobody looks.

B batch, H heads, Q queries, K keys.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn

from heedful.nn.attention import Attention
from heedful.nn.kernels import KERNELS
from heedful.nn.kernels.dense import shared, weights
from heedful.nn.layout import Layout
from heedful.nn.sight import Sight
from heedful.nn.telling import BETWEEN, CROSS, SELF, SUMMARY, Telling

KINDS = (SELF, CROSS, BETWEEN, SUMMARY)


@dataclass
class Seen:
    """The weights of the latest pass: by the name of the attention, [B, H, Q, K]."""

    by_name: dict[str, Tensor] = field(default_factory=dict)

    @property
    def weights(self) -> list[tuple[str, Tensor]]:
        return list(self.by_name.items())


@dataclass(frozen=True, eq=False)
class Glance:
    """One attention at work, once: its weights, and where the keys stand that it looked at."""

    name: str
    kind: str  # one of KINDS
    weights: Tensor  # [B, H, Q, K]
    keys: Layout  # [B, K]


@contextmanager
def watch(
    model: nn.Module,
    kinds: tuple[str, ...] = KINDS,
    tell: Callable[[Glance], None] = lambda _: None,
) -> Iterator[Seen]:
    """Lend each attention something that writes down its weights; take it back at the end.

    What is seen is the latest of each. `tell` hears of all as they happen: a layer that is applied
    several times looks several times.
    """
    seen = Seen()

    def note(glance: Glance) -> None:
        seen.by_name[glance.name] = glance.weights
        tell(glance)

    give_back: list[Callable[[], None]] = []
    for name, part in lookers(model).items():
        if part.kind in kinds:
            give_back.append(_lend(part, name, note))
    try:
        yield seen
    finally:
        for end in reversed(give_back):
            end()


Looker = Attention | Telling


def lookers(model: nn.Module) -> dict[str, Looker]:
    """Every part of a model that looks at something, by the name of its place."""
    return {name: part for name, part in model.named_modules() if isinstance(part, Looker)}


def watched(part: Looker) -> bool:
    """Whether somebody watches it."""
    if isinstance(part, Attention):
        return isinstance(part.kernel, _Recording)
    return part.note is not None


def _lend(part: Looker, name: str, note: Callable[[Glance], None]) -> Callable[[], None]:
    """Let a part be heard; what is given undoes that."""
    if isinstance(part, Attention):
        kernel = part.kernel
        part.kernel = _Recording(name, part.kind, note)
        return lambda: setattr(part, "kernel", kernel)
    before = part.note
    part.note = lambda weights, keys: note(Glance(name, part.kind, weights, keys))
    return lambda: setattr(part, "note", before)


class _Recording:
    """The `dense` kernel, with its weights written down."""

    def __init__(self, name: str, kind: str, note: Callable[[Glance], None]) -> None:
        self.name, self.kind, self.note = name, kind, note

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sight: Sight,
        bias: Tensor | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        seen = weights(q, k, sight, bias)
        self.note(Glance(self.name, self.kind, seen.detach(), sight.k))
        if dropout:  # what is seen is then not what is used; look at a model in eval mode
            return KERNELS["dense"](q, k, v, sight, bias, dropout)
        return seen @ shared(v, q.shape[1])

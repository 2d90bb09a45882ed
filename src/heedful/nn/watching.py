"""Looking at attention while it works, without slowing anything when nobody looks.

B batch, H heads, Q queries, K keys.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn

from heedful.nn.attention import Attention, attentions
from heedful.nn.kernels import KERNELS
from heedful.nn.kernels.dense import shared, weights
from heedful.nn.sight import Sight

SELF, CROSS = "self", "cross"


@dataclass
class Seen:
    """The weights of the latest pass: by the name of the attention, [B, H, Q, K]."""

    by_name: dict[str, Tensor] = field(default_factory=dict)

    @property
    def weights(self) -> list[tuple[str, Tensor]]:
        return list(self.by_name.items())


@contextmanager
def watch(model: nn.Module, kinds: tuple[str, ...] = (SELF, CROSS)) -> Iterator[Seen]:
    """Lend each attention a kernel that writes down its weights; take it back at the end."""
    seen = Seen()
    watched: list[tuple[Attention, object]] = []
    for name, part in attentions(model).items():
        if (CROSS if part.reads else SELF) in kinds:
            watched.append((part, part.kernel))
            part.kernel = _Recording(name, seen)
    try:
        yield seen
    finally:
        for part, before in watched:
            part.kernel = before  # type: ignore[assignment]


class _Recording:
    """The `dense` kernel, with its weights written down."""

    def __init__(self, name: str, seen: Seen) -> None:
        self.name, self.seen = name, seen

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sight: Sight,
        bias: Tensor | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        if dropout:  # what is seen is then not what is used; look at a model in eval mode
            self.seen.by_name[self.name] = weights(q, k, sight, bias).detach()
            return KERNELS["dense"](q, k, v, sight, bias, dropout)
        seen = weights(q, k, sight, bias)
        self.seen.by_name[self.name] = seen.detach()
        return seen @ shared(v, q.shape[1])

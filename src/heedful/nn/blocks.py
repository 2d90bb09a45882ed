"""One layer of a Transformer, with its norms before or after each part.

B batch, L length, D model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.attention import Attention, AttentionConfig, Encoded
from heedful.nn.feed_forward import FeedForward
from heedful.nn.kernels.step import add_norm
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.norm import LayerNorm
from heedful.nn.patterns import Full, Pattern

Norm = Literal["pre", "post"]
EPSILON = 1e-6


@dataclass(frozen=True)
class Dropouts:
    """Where a layer forgets at random, and how often."""

    residual: float = 0.0  # each part's output, before it is added
    attention: float = 0.0  # attention's weights
    relu: float = 0.0  # inside the feed-forward part


class Residual(nn.Module):
    """x + f(norm(x)), the norm before (as Tensor2Tensor since 2018); or norm(x + f(x)), after (as
    the paper). Where it does not add, f(norm(x)) or norm(f(x)): to see what is lost."""

    def __init__(self, dim: int, norm: Norm, dropout: float, adds: bool = True) -> None:
        super().__init__()
        self.norm = LayerNorm(dim, eps=EPSILON)
        self.before = norm == "pre"
        self.dropout = dropout
        self.adds = adds

    def forward(self, x: Float[Tensor, "B L D"], part: Callable[[Tensor], Tensor]) -> Tensor:
        y = part(self.norm(x) if self.before else x)
        if self.training:
            y = F.dropout(y, self.dropout)
        if self.adds:
            y = x + y
        return y if self.before else self.norm(y)

    def chained(
        self, x: Tensor, y: Tensor | None, part: Callable[[Tensor], Tensor], seed: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """As `forward` where the norm comes before, and with what is yet to be added to `x`, before
        and after: a sum, what dropout forgets of it and its norm are made together."""
        if y is None:
            return x, part(self.norm(x))
        x, normed = self.norm.of_sum(x, y, self.dropout if self.training else 0.0, seed)
        return x, part(normed)

    def step(
        self, x: Tensor, y: Tensor | None, part: Callable[[Tensor], Tensor]
    ) -> tuple[Tensor, Tensor | None]:
        """As `forward`, for a token a row, and with what is yet to be added to `x`, before and
        after: a sum and the norm of it are made together."""
        if not self.before:
            return add_norm(x, part(x), self.norm)[1], None
        x, normed = (x, self.norm(x)) if y is None else add_norm(x, y, self.norm)
        return x, part(normed)


class Block(nn.Module):
    """Self-attention, then attention to a source where it `reads` one, then feed-forward."""

    def __init__(
        self,
        dim: int,
        heads: int,
        ff: int,
        *,
        pattern: Pattern,
        reads: bool = False,
        norm: Norm = "pre",
        dropouts: Dropouts = Dropouts(),
        attention: AttentionConfig = AttentionConfig(),
        residuals: bool = True,
    ) -> None:
        super().__init__()

        def attend(pattern: Pattern, reads: bool) -> Attention:
            return Attention(
                dim,
                heads,
                pattern=pattern,
                reads=reads,
                dropout=dropouts.attention,
                config=attention,
            )

        def residual() -> Residual:
            return Residual(dim, norm, dropouts.residual, residuals)

        self.attention = attend(pattern, reads=False)
        self.attention_residual = residual()
        self.reading = attend(Full(), reads=True) if reads else None
        self.reading_residual = residual() if reads else None
        self.feed_forward = FeedForward(dim, ff, dropouts.relu)
        self.feed_forward_residual = residual()

    def forward(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None = None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        x = self.attention_residual(x, lambda y: self.attention(y, at, memory=memory))
        if self.reading is not None and self.reading_residual is not None:
            read = self.reading
            x = self.reading_residual(x, lambda y: read(y, at, source, memory))
        return self.feed_forward_residual(x, self.feed_forward)

    def chained(
        self,
        x: Tensor,
        y: Tensor | None,
        at: Layout,
        source: Encoded | None,
        memory: Memory,
        seeds: Iterator[Tensor | None],
    ) -> tuple[Tensor, Tensor]:
        """As `forward` where norms come before, with what is yet to be added to `x`, before and
        after; a seed of dropout for each part."""
        x, y = self.attention_residual.chained(
            x, y, lambda z: self.attention(z, at, memory=memory), next(seeds)
        )
        if self.reading is not None and self.reading_residual is not None:
            read = self.reading
            x, y = self.reading_residual.chained(
                x, y, lambda z: read(z, at, source, memory), next(seeds)
            )
        return self.feed_forward_residual.chained(x, y, self.feed_forward, next(seeds))

    @property
    def parts(self) -> int:
        """How many are added up."""
        return 2 if self.reading is None else 3

    def step(
        self, x: Tensor, y: Tensor | None, at: Layout, source: Encoded | None, memory: Memory
    ) -> tuple[Tensor, Tensor | None]:
        """As `forward`, with what is yet to be added to `x`, before and after."""
        x, y = self.attention_residual.step(x, y, lambda z: self.attention(z, at, memory=memory))
        if self.reading is not None and self.reading_residual is not None:
            read = self.reading
            x, y = self.reading_residual.step(x, y, lambda z: read(z, at, source, memory))
        return self.feed_forward_residual.step(x, y, self.feed_forward.step)

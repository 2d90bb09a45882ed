"""One layer of a Transformer, with its norms before or after each part.

B batch, L length, D model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.attention import Attention, AttentionConfig, Encoded
from heedful.nn.feed_forward import FeedForward
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.norm import LayerNorm
from heedful.nn.patterns import Full, Pattern

Norm = Literal["pre", "post"]
Join = Callable[[LayerNorm, Tensor, Tensor], tuple[Tensor, Tensor]]  # a sum, and the norm of it
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
        self, x: Tensor, y: Tensor | None, part: Callable[[Tensor], Tensor], join: Join
    ) -> tuple[Tensor, Tensor | None]:
        """As `forward` where it adds, with what is yet to be added to `x`, before and after: a sum
        and the norm of it are made together."""
        if not self.before:
            return join(self.norm, x, part(x))[1], None
        x, normed = (x, self.norm(x)) if y is None else join(self.norm, x, y)
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
        x: Float[Tensor, "B L D"],
        y: Float[Tensor, "B L D"] | None,
        at: Layout,
        source: Encoded | None,
        memory: Memory,
        join: Join,
        steps: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """As `forward`, with what is yet to be added to `x`, before and after. Where it `steps`,
        there is one token a row, and nobody learns."""
        x, y = self.attention_residual.chained(
            x, y, lambda z: self.attention(z, at, memory=memory), join
        )
        if self.reading is not None and self.reading_residual is not None:
            read = self.reading
            x, y = self.reading_residual.chained(x, y, lambda z: read(z, at, source, memory), join)
        feed = self.feed_forward.step if steps else self.feed_forward
        return self.feed_forward_residual.chained(x, y, feed, join)

    @property
    def parts(self) -> int:
        """How many there are whose outputs are added."""
        return 2 if self.reading is None else 3

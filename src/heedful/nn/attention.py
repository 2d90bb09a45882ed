"""Multi-head attention: five small parts, joined.

Vaswani et al., "Attention Is All You Need", NeurIPS 2017, https://arxiv.org/abs/1706.03762,
section 3.2. Who may look at whom is a pattern, what is added to the scores a bias, how queries and
keys are turned a turn, what keys and values are shrunk to or joined into first a pool, how it is
computed a kernel; each has a file of its own.

B batch, L length, D model, H heads, G heads of keys and values, E per head.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.biases import parse_bias
from heedful.nn.edges import Edges
from heedful.nn.initial import linear
from heedful.nn.kernels import Kernel
from heedful.nn.kernels.choice import Auto, choice
from heedful.nn.kernels.dense import shared, weights
from heedful.nn.kernels.relative import RELATIVE_KERNEL
from heedful.nn.kernels.spanned import SPANS_KERNEL
from heedful.nn.kernels.step import WIDEST, read_source, read_traced
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.patterns import (
    Causal,
    Pattern,
    Visible,
    looks_back,
    parse_pattern,
    terms,
)
from heedful.nn.pools import parse_pool
from heedful.nn.relative import Relative
from heedful.nn.sight import Sight, sight
from heedful.nn.slate import Slate
from heedful.nn.telling import CROSS, SELF
from heedful.nn.turns import parse_turn


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """The slots of attention, as settings write them (`--set model.attention.bias=alibi`)."""

    pattern: str = "full"  # joined to what the model needs: near:64, in_blocks:128, dilated:4
    bias: str = "none"  # none, alibi, bucket, shaw:16, shaw_keys:16, skew:512; self-attention only
    turn: str = "none"  # none, rotary; self-attention only
    pool: str = "none"  # none, strided:3, areas:4; self-attention only
    kernel: str = "auto"  # auto, dense, fused, blocks, spans, relative
    head_dim: int = 0  # channels of a head; 0 for dim / heads
    kv_heads: int = 0  # heads of keys and values; 0 for as many as queries have


@dataclass(frozen=True, eq=False)
class Encoded:
    """What an encoder made of a source: a vector a token, and where the tokens stand."""

    x: Tensor  # [B, L, D]
    at: Layout

    def select(self, rows: Tensor) -> "Encoded":
        return Encoded(self.x.index_select(0, rows), self.at.select(rows))

    def spread(self, rows: int) -> Tensor:
        """The vectors, once for each of so many rows that read them."""
        return self.x.repeat_interleave(rows // len(self.x), 0)


class Attention(nn.Module):
    """Softmax(QKᵀ/√E + bias)V in several heads, over oneself or over a source."""

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        pattern: Pattern,
        reads: bool = False,
        dropout: float = 0.0,
        config: AttentionConfig = AttentionConfig(),
    ) -> None:
        super().__init__()
        if not config.head_dim and dim % heads:
            raise UsageError(
                f"{heads} heads cannot share {dim} channels evenly. "
                "Choose heads that divide dim, or set attention.head_dim"
            )
        self.heads = heads
        self.kv_heads = config.kv_heads or heads
        if heads % self.kv_heads:
            raise UsageError(f"{heads} heads cannot share {self.kv_heads} heads of keys evenly")
        self.width = config.head_dim or dim // heads
        self.reads = reads
        self.kind = CROSS if reads else SELF  # what looks at what, for those who watch
        self.dropout = dropout
        self.pattern = Visible() & pattern
        if not reads and config.pattern != "full":
            self.pattern = self.pattern & parse_pattern(config.pattern)
        causal = Causal() in terms(self.pattern)
        self.bias = None if reads else parse_bias(config.bias, heads, self.width, causal)
        self.turn = None if reads else parse_turn(config.turn, self.width)
        if config.kernel == SPANS_KERNEL and (self.bias is not None or dropout):
            raise UsageError(
                f"kernel 'spans' has no bias and no dropout of weights; the bias is {config.bias}, "
                f"attention_dropout {dropout}. Set attention.kernel to auto"
            )
        if config.kernel == RELATIVE_KERNEL and not reads and not isinstance(self.bias, Relative):
            raise UsageError(
                f"kernel 'relative' is for relative positions, and the bias is {config.bias}. "
                "Set attention.bias to skew:N or shaw_keys:K, or attention.kernel to auto"
            )
        self.kernel: Kernel = choice(config.kernel, dropout)
        q, kv = heads * self.width, self.kv_heads * self.width
        self.pool = None if reads else parse_pool(config.pool, kv)
        if self.kv_heads == heads:
            self.to_q = linear(dim, q, bias=False) if reads else None
            self.to_kv = linear(dim, 2 * kv, bias=False, parts=2) if reads else None
            self.to_qkv = None if reads else linear(dim, 3 * q, bias=False, parts=3)
        else:
            self.to_q = linear(dim, q, bias=False)
            self.to_kv = linear(dim, 2 * kv, bias=False, parts=2)
            self.to_qkv = None
        self.to_out = linear(q, dim, bias=False)

    def forward(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None = None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        if isinstance(memory, Slate) and memory.trace is not None and self.plain:
            return self.to_out(self.step(x, at, source, memory, memory.trace))
        if self.reads:
            assert source is not None and self.to_q is not None
            made: list[Tensor] = []  # keys and values in one, if they are made now
            k, v = memory["source"].once(lambda: self.project(source.x, made))
            # Several outputs of one source read it together: their rows become one row of queries.
            q = in_heads(self.to_q(x).view(len(k), -1, self.heads * self.width), self.heads)
            lasting = at.start is not None
            seen = sight(self.pattern, at.together(len(k)), source.at, lasting)
            sides = [q, *made]
        else:
            sides = self.projected(x)
            q, k, v = new = self.apart(sides)
            if self.turn is not None:
                q, k = self.turn(q, at), self.turn(k, at)
            if self.pool is not None:
                k, v, keys = self.pool(k, v, at, memory)
            else:
                k, v = memory.extend(k, v, dims=(2, 2))
                keys = memory.see(at)
            seen = sight(self.pattern, at, keys)
            if q is not new[0] or k is not new[1]:  # they were turned, pooled or remembered
                sides = []
        out = self.attend(q, k, v, seen, sides)
        return self.to_out(out.transpose(1, 2).reshape(*x.shape[:2], -1))

    @property
    def plain(self) -> bool:
        """Whether it is the usual attention and no more, which has a kernel for single tokens."""
        usual = looks_back(self.pattern)
        rare = self.bias is not None or self.pool is not None or self.training
        return usual and not rare and isinstance(self.kernel, Auto) and self.width <= WIDEST

    def step(
        self,
        x: Float[Tensor, "B 1 D"],
        at: Layout,
        source: Encoded | None,
        memory: Slate,
        trace: Tensor,
    ) -> Float[Tensor, "B 1 E"]:
        """What one more token reads, in a memory whose rows are traced."""
        if self.reads:
            assert source is not None and self.to_q is not None
            k, v = memory["source"].once(lambda: self.project(source.x))
            q = in_heads(self.to_q(x), self.heads)
            return read_source(q, k, v, (at.segments, source.at.segments))
        q, k, v = self.apart(self.projected(x))
        if self.turn is not None:
            q, k = self.turn(q, at), self.turn(k, at)
        keys, values = (kept.store for kept in memory.stores)
        segments = at.segments, memory.mark(at)
        return read_traced((q, k, v), keys, values, segments, trace, memory.place)

    def attend(
        self,
        q: Float[Tensor, "B H Q E"],
        k: Float[Tensor, "B G K E"],
        v: Float[Tensor, "B G K E"],
        sight: Sight,
        sides: Sequence[Tensor] = (),
    ) -> Float[Tensor, "B H Q E"]:
        """What each query reads, the bias taking part: in the scores, and where it has vectors for
        values, by the weights in the output.

        `sides` is what queries, keys and values are parts of, where it holds all of them.
        """
        at, keys = sight.q, sight.k
        dropout = self.dropout if self.training else 0.0
        whole = sum(side.shape[1] for side in sides) == 3 * self.heads
        if whole and self.bias is None and isinstance(self.kernel, Auto):
            out = self.kernel.together(list(sides), self.heads, sight, dropout)
            if out is not None:
                return out
        if isinstance(self.bias, Relative) and isinstance(self.kernel, Auto):
            out = self.kernel.relative(q, k, v, sight, self.bias, dropout)
            if out is not None:
                return out
        bias = None if self.bias is None else self.bias(q, at, keys)
        if not isinstance(self.bias, Relative | Edges) or self.bias.values is None:
            return self.kernel(q, k, v, sight, bias=bias, dropout=dropout)
        shares = F.dropout(weights(q, k, sight, bias), dropout)
        # With dropout the same weights must serve both sides; else the kernel asked for is used.
        plain = dropout or isinstance(self.kernel, Auto)
        out = shares @ shared(v, q.shape[1]) if plain else self.kernel(q, k, v, sight, bias=bias)
        return out + self.bias.read(shares, at, keys)

    def projected(self, x: Float[Tensor, "B L D"]) -> list[Tensor]:
        """Queries, keys and values of `x` itself, together as far as one matrix makes them."""
        if self.to_qkv is not None:
            return [in_heads(self.to_qkv(x), 3 * self.heads)]
        assert self.to_q is not None and self.to_kv is not None
        return [in_heads(self.to_q(x), self.heads), in_heads(self.to_kv(x), 2 * self.kv_heads)]

    def apart(self, sides: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each for itself."""
        if len(sides) == 1:
            q, k, v = sides[0].chunk(3, 1)
        else:
            q, (k, v) = sides[0], sides[1].chunk(2, 1)
        return q, k, v

    def project(
        self, x: Float[Tensor, "B L D"], whole: list[Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Keys and values of what is read; what both are halves of goes into `whole`."""
        assert self.to_kv is not None
        both = in_heads(self.to_kv(x), 2 * self.kv_heads)
        if whole is not None:
            whole.append(both)
        k, v = both.chunk(2, 1)
        return k, v


def in_heads(x: Float[Tensor, "B L HE"], heads: int) -> Float[Tensor, "B H L E"]:
    """Each head's channels by themselves."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def attentions(model: nn.Module) -> dict[str, Attention]:
    """Every attention in a model, by the name of its place."""
    return {name: part for name, part in model.named_modules() if isinstance(part, Attention)}

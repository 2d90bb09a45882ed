"""The Transformer: attention and nothing else, as encoder-decoder, encoder or decoder.

Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser and Polosukhin, "Attention Is All You
Need", NeurIPS 2017, https://arxiv.org/abs/1706.03762. With `norm="post"` and `positions="sinusoid"`
it is the paper's; with `norm="pre"` and `positions="sinusoid_t2t"`, Tensor2Tensor's since 2018.
B batch, L length, D model.
"""

from dataclasses import dataclass, field
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.models.base import ModelConfig
from heedful.nn.attention import AttentionConfig, Encoded
from heedful.nn.blocks import EPSILON, Block, Dropouts, Join, Norm
from heedful.nn.kernels.step import add_norm
from heedful.nn.layout import Layout, line
from heedful.nn.memory import FORGET, Memory
from heedful.nn.norm import LayerNorm, seeds
from heedful.nn.patterns import Causal, Full, Pattern
from heedful.nn.positions import Sinusoids, parse_positions
from heedful.nn.slate import Slate
from heedful.nn.slices import in_slices
from heedful.nn.spans import in_one_piece
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(ModelConfig, kind="transformer"):
    """The Transformer's numbers; the defaults are Tensor2Tensor's base model."""

    layers: int = 6
    decoder_layers: int = 0  # 0 for as many as the encoder has
    heads: int = 8
    ff: int = 2048
    norm: Norm = "pre"
    positions: str = "sinusoid"  # sinusoid, sinusoid_t2t, learned:N, none
    dropout: float = 0.1  # of embeddings and of what each part adds
    attention_dropout: float = 0.0  # of attention's weights
    relu_dropout: float = 0.0  # inside the feed-forward parts
    residuals: Literal["add", "none", "timing"] = "add"
    """Whether what goes into a part is added to what comes out; `timing` in its place adds the
    positions anew before each layer. For looking at what residuals carry."""
    attention: AttentionConfig = field(default_factory=AttentionConfig)


@dataclass(frozen=True, kw_only=True)
class TransformerEncoderConfig(TransformerConfig, kind="transformer_encoder"):
    """An encoder alone, with the Transformer's numbers."""


@dataclass(frozen=True, kw_only=True)
class TransformerLMConfig(TransformerConfig, kind="transformer_lm"):
    """A decoder alone, with the Transformer's numbers."""


class Stack(nn.Module):
    """Positions, then layers of one kind, then the last norm where norms come before."""

    def __init__(
        self, config: TransformerConfig, layers: int, pattern: Pattern, reads: bool
    ) -> None:
        super().__init__()
        c = config
        dropouts = Dropouts(c.dropout, c.attention_dropout, c.relu_dropout)
        self.dropout = c.dropout
        self.positions = parse_positions(c.positions, c.dim)
        self.adds, self.timed = c.residuals == "add", c.residuals == "timing"
        self.pre = c.norm == "pre"
        self.layers = nn.ModuleList(
            Block(
                c.dim,
                c.heads,
                c.ff,
                pattern=pattern,
                reads=reads,
                norm=c.norm,
                dropouts=dropouts,
                attention=c.attention,
                residuals=c.residuals == "add",
            )
            for _ in range(layers)
        )
        self.norm = LayerNorm(c.dim, eps=EPSILON) if c.norm == "pre" else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None = None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        signal = self.signal(at, memory, x)
        if isinstance(memory, Slate) and memory.trace is not None and self.adds:
            if self.pre:  # there is a norm to come, which the signal is added by
                return self.chained(x, signal, at, source, memory, by_step, steps=True)
            return self.chained(x + signal, None, at, source, memory, by_step, steps=True)
        x = F.dropout(x + signal, self.dropout, self.training)
        if self.adds:
            return self.chained(x, None, at, source, memory, self.forgetful(x))
        for number, layer in enumerate(self.layers):
            if self.timed and number:
                x = x + signal
            x = layer(x, at, source, memory[number])
        return self.norm(x)

    def chained(
        self,
        x: Float[Tensor, "B L D"],
        y: Float[Tensor, "B L D"] | None,
        at: Layout,
        source: Encoded | None,
        memory: Memory,
        join: Join,
        steps: bool = False,
    ) -> Float[Tensor, "B L D"]:
        """The layers, each sum made together with the norm that follows; `y` is yet to be added."""
        for number, layer in enumerate(self.layers):
            x, y = layer.chained(x, y, at, source, memory[number], join, steps)  # type: ignore[operator]
        return self.norm(x) if y is None else join(self.norm, x, y)[1]  # type: ignore[arg-type]

    def forgetful(self, x: Float[Tensor, "B L D"]) -> Join:
        """How a pass makes its sums: in training, dropout forgets some of what is added. Where
        kernels do that, all seeds are drawn at once."""
        dropout = self.dropout if self.training else 0.0
        uses = 1 + sum(layer.parts for layer in self.layers)  # type: ignore[misc]
        drawn = seeds(uses, x) if dropout and x.is_cuda else [None] * uses
        each = iter(drawn)
        return lambda norm, x, y: norm.of_sum(x, y, dropout, next(each))

    def signal(self, at: Layout, memory: Memory, x: Float[Tensor, "B L D"]) -> Tensor:
        """Where each token stands, in numbers like those of `x`."""
        learns = x.is_cuda and self.training
        if learns and isinstance(self.positions, Sinusoids) and in_one_piece(at):
            return self.positions.of_whole(at).to(x.dtype)
        if not isinstance(memory, Slate) or self.positions.longest is not None:
            return self.positions(at).to(x.dtype)
        table = memory.table(
            lambda length: self.positions(line(length, device=x.device))[0].to(x.dtype)
        )
        return F.embedding(at.positions, table)


def by_step(norm: LayerNorm, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """How a step of decoding makes its sums."""
    return add_norm(x, y, norm)


@models.register("transformer")
class Transformer(nn.Module):
    """Encoder and decoder of attention alone (Vaswani et al. 2017)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        c = config
        self.encoder = Stack(c, c.layers, Full(), reads=False)
        self.decoder = Stack(c, c.decoder_layers or c.layers, Causal(), reads=True)
        self.longest = self.encoder.positions.longest

    def encode(self, x: Float[Tensor, "B L D"], at: Layout) -> Encoded:
        return Encoded(in_slices(self.encoder, x, at), at)

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        return self.decoder(x, at, source, memory)


@models.register("transformer_encoder")
class TransformerEncoder(nn.Module):
    """The Transformer's encoder alone: one answer for each token read."""

    def __init__(self, config: TransformerEncoderConfig) -> None:
        super().__init__()
        self.encoder = Stack(config, config.layers, Full(), reads=False)
        self.longest = self.encoder.positions.longest

    def encode(self, x: Float[Tensor, "B L D"], at: Layout) -> Encoded:
        return Encoded(in_slices(self.encoder, x, at), at)


@models.register("transformer_lm")
class TransformerLM(nn.Module):
    """The Transformer's decoder alone: a language model."""

    def __init__(self, config: TransformerLMConfig) -> None:
        super().__init__()
        self.decoder = Stack(config, config.layers, Causal(), reads=False)
        self.longest = self.decoder.positions.longest

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None = None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        return self.decoder(x, at, None, memory)

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
from heedful.nn.blocks import EPSILON, Block, Dropouts, Norm
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
            return self.step(x, signal, at, source, memory)
        x = F.dropout(x + signal, self.dropout, self.training)
        if self.adds and isinstance(self.norm, LayerNorm):
            return self.chained(x, at, source, memory)
        for number, layer in enumerate(self.layers):
            if self.timed and number:
                x = x + signal
            x = layer(x, at, source, memory[number])
        return self.norm(x)

    def chained(
        self, x: Float[Tensor, "B L D"], at: Layout, source: Encoded | None, memory: Memory
    ) -> Float[Tensor, "B L D"]:
        """The layers, where norms come before: each norm is made together with the sum before."""
        assert isinstance(self.norm, LayerNorm)
        dropout = self.dropout if self.training else 0.0
        uses = 1 + sum(layer.parts for layer in self.layers)  # type: ignore[misc]
        drawn = seeds(uses, x) if dropout and self.norm.by_kernel(x) else [None] * uses
        each, y = iter(drawn), None
        for number, layer in enumerate(self.layers):
            x, y = layer.chained(x, y, at, source, memory[number], each)  # type: ignore[operator]
        return self.norm(x) if y is None else self.norm.of_sum(x, y, dropout, next(each))[1]

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

    def step(
        self,
        x: Float[Tensor, "B 1 D"],
        signal: Float[Tensor, "B 1 D"],
        at: Layout,
        source: Encoded | None,
        memory: Memory,
    ) -> Float[Tensor, "B 1 D"]:
        """The layers, for one more token in a memory whose rows are traced."""
        y: Tensor | None = signal  # what is yet to be added
        if isinstance(self.norm, nn.Identity):  # there is no norm to come before the first layer
            x, y = x + signal, None
        for number, layer in enumerate(self.layers):
            x, y = layer.step(x, y, at, source, memory[number])  # type: ignore[operator]
        return x if y is None else add_norm(x, y, self.norm)[1]  # type: ignore[arg-type]


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

"""A recurrent language model: layers of LSTM or GRU that say each word from all before it.

Mikolov et al., "Recurrent Neural Network Based Language Model", Interspeech 2010; with LSTM and
dropout between layers, Zaremba, Sutskever and Vinyals, "Recurrent Neural Network Regularization",
2014, https://arxiv.org/abs/1409.2329. B batch, L length, D model.
"""

from dataclasses import dataclass, field

from jaxtyping import Float
from torch import Tensor, nn

from heedful.models.base import ModelConfig
from heedful.nn.attention import Encoded
from heedful.nn.cells import LSTM, Cell
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.recurrent import Dropout, RecurrentStack
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class RecurrentLMConfig(ModelConfig, kind="recurrent_lm"):
    """A recurrent language model's numbers; the defaults are Zaremba's medium model."""

    dim: int = 650
    layers: int = 2
    hidden: int = 0  # units of a layer; 0 for dim
    cell: Cell = field(default_factory=LSTM)
    dropout: float = 0.5  # before each layer and after the last
    one_mask: bool = False  # drop the same units at every step of a row
    residual_from: int = 0  # the first layer whose input is added to its output; 0 for none


@models.register("recurrent_lm")
class RecurrentLM(nn.Module):
    """A decoder alone, of recurrent layers."""

    def __init__(self, config: RecurrentLMConfig) -> None:
        super().__init__()
        c = config
        hidden = c.hidden or c.dim
        self.stack = RecurrentStack(
            c.cell,
            c.dim,
            hidden,
            c.layers,
            dropout=c.dropout,
            one_mask=c.one_mask,
            residual_from=c.residual_from,
        )
        self.dropout = Dropout(c.dropout, c.one_mask)
        self.to_out = linear(hidden, c.dim, bias=False) if hidden != c.dim else nn.Identity()

    def decode(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        source: Encoded | None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "B L D"]:
        x, _ = self.stack(x, at, None, memory, ends=False)
        return self.to_out(self.dropout(x))

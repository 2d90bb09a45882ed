"""Words of a peer on PyTorch's recurrent layers: vectors for those read and written, and a softmax.

B batch, L length, D model, V vocabulary.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from heedful.models.base import ModelConfig
from heedful.nn.cells import LSTM, Cell
from heedful.peers.torch_transformer import Said
from heedful.text.specials import PAD


class Words(nn.Module):
    """Embeddings, multiplied by √dim as ours are, and what is shared of them."""

    def __init__(self, shape: ModelConfig, size: int) -> None:
        super().__init__()
        self.scale = shape.dim**0.5
        self.target = _embedding(size, shape.dim)
        self.source = self.target if shape.tie == "all" else _embedding(size, shape.dim)
        self.softmax = nn.Linear(shape.dim, size, bias=False)
        nn.init.normal_(self.softmax.weight, std=shape.dim**-0.5)
        if shape.tie != "none":
            self.softmax.weight = self.target.weight

    def read(self, ids: Tensor, dropout: float) -> Tensor:
        return F.dropout(self.source(ids) * self.scale, dropout, self.training)

    def written(self, ids: Tensor, dropout: float) -> Tensor:
        return F.dropout(self.target(ids) * self.scale, dropout, self.training)

    def said(self, x: Tensor) -> Said:
        return Said(self.softmax(x))


def library(cell: Cell) -> type[nn.LSTM] | type[nn.GRU]:
    """PyTorch's layer of a cell."""
    return nn.LSTM if isinstance(cell, LSTM) else nn.GRU


def _embedding(size: int, dim: int) -> nn.Embedding:
    made = nn.Embedding(size, dim, padding_idx=PAD)
    nn.init.normal_(made.weight, std=dim**-0.5)
    nn.init.zeros_(made.weight[PAD].detach())
    return made

"""Ids to vectors and vectors to ids: words, subwords, bytes.

B batch, L length, D model, V vocabulary.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.kernels.step import embed
from heedful.nn.layout import Layout
from heedful.nn.losses import Loss, Smoothing
from heedful.nn.memory import Memory
from heedful.nn.products import times
from heedful.nn.projected import projected
from heedful.nn.slate import Slate
from heedful.text.specials import PAD


class Embedding(nn.Module):
    """A vector a symbol, drawn from N(0, 1/D). Looked up, it is multiplied by √D; as the weights of
    the softmax it is not (Vaswani et al. 2017, section 3.4). Padding looks up zeros."""

    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, dim) * dim**-0.5)

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L D"]:
        x = F.embedding(ids, self.weight) * self.weight.shape[1] ** 0.5
        return x.masked_fill((ids == PAD)[..., None], 0.0)

    def step(self, ids: Int[Tensor, "B T"], memory: Memory) -> Float[Tensor, "B T D"]:
        """As `forward`, for the next ids of a search: at once, where its steps are by kernels."""
        if type(self) is Embedding and isinstance(memory, Slate) and memory.trace is not None:
            return embed(ids, self.weight, self.weight.shape[1] ** 0.5, PAD)
        return self(ids)


class Head(nn.Module):
    """Vectors to a score for each symbol, by an embedding's weights (one's own, or shared)."""

    embedding: Embedding

    def __init__(self, embedding: Embedding, smoothing: Smoothing) -> None:
        super().__init__()
        self.embedding = embedding
        self.smoothing = smoothing

    def forward(self, x: Float[Tensor, "B L D"]) -> Float[Tensor, "B L V"]:
        return times(x, self.embedding.weight)

    def loss(
        self,
        x: Float[Tensor, "B L D"],
        ids: Int[Tensor, "B L"],
        at: Layout,
        words: Int[Tensor, "1 C"] | None = None,
    ) -> Loss:
        """How wrong these vectors are about the ids. `words` are those of the batch's bucket, where
        it has one; padding among them is none."""
        return projected(self.smoothing, x, self.embedding.weight, ids, at.real)

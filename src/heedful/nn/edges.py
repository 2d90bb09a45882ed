"""Attention along the edges of a graph: vectors by the type of edge, for keys and for values.

Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations", NAACL 2018,
https://arxiv.org/abs/1803.02155, section 3.1: a query meets key j plus the vector of the edge
between them, and reads value j plus another. Distance is the case where the type of an edge is how
far apart its ends stand (heedful.nn.relative). No vector is ever copied for a pair of tokens: a
query meets every vector once, and its scores are picked from those.

B batch, H heads, Q queries, K keys, E per head, R types, L nodes.
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.nn.layout import Layout

Pairs = Int[Tensor, "B 1 Q K"]


class Table(nn.Module):
    """A vector for each type of edge, in tables of their own for each head or in one for all."""

    def __init__(self, heads: int, width: int, types: int, shared: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.rows = nn.Parameter(torch.randn(1 if shared else heads, types, width) * width**-0.5)

    def forward(self, dtype: torch.dtype) -> Float[Tensor, "H R E"]:
        return self.rows.to(dtype).expand(self.heads, -1, -1)


def scored(
    q: Float[Tensor, "B H Q E"], rows: Float[Tensor, "H R E"], types: Pairs
) -> Float[Tensor, "B H Q K"]:
    """What each query and the vector of its edge to each key make, over √E."""
    by_type = (q * q.shape[-1] ** -0.5) @ rows.transpose(-1, -2)
    return by_type.gather(-1, types.expand(-1, q.shape[1], -1, -1))


def read(
    weights: Float[Tensor, "B H Q K"], rows: Float[Tensor, "H R E"], types: Pairs
) -> Float[Tensor, "B H Q E"]:
    """The sum over keys of weight times the vector of the edge."""
    by_type = weights.new_zeros(*weights.shape[:3], rows.shape[1])
    return by_type.scatter_add(-1, types.expand_as(weights), weights) @ rows.to(weights.dtype)


@dataclass(frozen=True, eq=False)
class Graph(Layout):
    """Nodes in place of tokens, and the type of the edge from each to each; 0 is no edge."""

    types: Int[Tensor, "B L L"] = field(kw_only=True)


class Edges(nn.Module):
    """Vectors by type of edge on keys and values, of a graph's layout (`edges:TYPES`).

    Type 0, no edge, has vectors too; with `only` (`edges:TYPES:1`) nobody looks where there is no
    edge, except every node at itself. Whole graphs only: nodes do not come step by step.
    """

    def __init__(self, heads: int, width: int, types: int, only: int = 0) -> None:
        super().__init__()
        if types < 1 or only not in (0, 1):
            raise UsageError(
                "edges have 1 type or more, and ONLY is 0 or 1 (whether nobody looks where there "
                f"is no edge); got edges:{types}:{only}"
            )
        self.only = bool(only)
        self.keys = Table(heads, width, types)
        self.values = Table(heads, width, types)

    def forward(
        self, q: Float[Tensor, "B H Q E"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q K"]:
        types = self.types(at, keys)
        score = scored(q, self.keys(q.dtype), types)
        if not self.only:
            return score
        itself = torch.eye(types.shape[-1], dtype=torch.bool, device=q.device)
        return score.masked_fill((types == 0) & ~itself, float("-inf"))

    def read(
        self, weights: Float[Tensor, "B H Q K"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q E"]:
        return read(weights, self.values(weights.dtype), self.types(at, keys))

    def types(self, at: Layout, keys: Layout) -> Pairs:
        if not isinstance(at, Graph) or keys is not at:
            raise UsageError(
                "attention bias 'edges' needs the edges of a graph, and these are tokens in a "
                "line. Give the model a heedful.nn.edges.Graph, or use shaw:K or skew:N"
            )
        return at.types[:, None]

"""Attention along the edges of a graph."""

import pytest
import torch
from torch import nn

from heedful.errors import UsageError
from heedful.nn import relative_plain as plain
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.edges import Graph
from heedful.nn.layout import line
from heedful.nn.patterns import Full
from heedful.nn.sight import Sight

EXACT = {"rtol": 1e-12, "atol": 1e-12}


def graph(types: torch.Tensor) -> Graph:
    at = line(types.shape[-1], batch=len(types))
    return Graph(at.positions, at.segments, types=types)


def attention(bias: str) -> Attention:
    torch.manual_seed(0)
    return Attention(12, 3, pattern=Full(), config=AttentionConfig(bias=bias)).double()


def nodes(count: int = 6) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(2, count, 12, dtype=torch.double, requires_grad=True)


def test_vectors_of_edges_are_those_written_out_for_every_pair() -> None:
    part, types = attention("edges:4"), torch.randint(0, 4, (2, 6, 6))
    torch.manual_seed(2)
    q, k, v = (torch.randn(2, 3, 6, 4, dtype=torch.double, requires_grad=True) for _ in range(3))
    at = graph(types)
    seen = Sight(part.pattern, at, at)
    on = [
        table(torch.double)[:, types].transpose(0, 1)
        for table in (part.bias.keys, part.bias.values)
    ]
    ours, theirs = part.attend(q, k, v, seen), plain.attend(q, k, v, seen.dense, *on)
    torch.testing.assert_close(ours, theirs, **EXACT)
    inputs, back = [q, k, v, *part.bias.parameters()], torch.randn_like(ours)
    for one, other in zip(
        torch.autograd.grad(ours, inputs, back),
        torch.autograd.grad(theirs, inputs, back),
        strict=True,
    ):
        torch.testing.assert_close(one, other, **EXACT)


def test_nodes_in_another_order_read_the_same() -> None:
    part, x, types = attention("edges:4"), nodes(), torch.randint(0, 4, (2, 6, 6))
    order = torch.randperm(6)
    moved = graph(types[:, order][:, :, order])
    torch.testing.assert_close(part(x[:, order], moved), part(x, graph(types))[:, order], **EXACT)


def test_a_chain_whose_edges_are_distances_is_shaw() -> None:
    edges, shaw, x = attention("edges:5"), attention("shaw:2"), nodes()
    shaw.load_state_dict(edges.state_dict())
    places = torch.arange(6)
    types = (places[None, :] - places[:, None]).clamp(-2, 2) + 2
    torch.testing.assert_close(
        edges(x, graph(types.expand(2, 6, 6))), shaw(x, line(6, batch=2)), **EXACT
    )


def test_vectors_of_zeros_are_no_bias() -> None:
    edges, none, x = attention("edges:3"), attention("none"), nodes()
    for part in (edges.bias.keys, edges.bias.values):
        nn.init.zeros_(part.rows)
    none.load_state_dict(edges.state_dict(), strict=False)
    found = edges(x, graph(torch.randint(0, 3, (2, 6, 6))))
    torch.testing.assert_close(found, none(x, line(6, batch=2)), **EXACT)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_along_edges_alone_a_layer_hears_one_edge_further(layers) -> None:
    part, x, chain = attention("edges:2:1"), nodes(), torch.zeros(2, 6, 6, dtype=torch.long)
    for i in range(5):
        chain[:, i, i + 1] = chain[:, i + 1, i] = 1
    y = x
    for _ in range(layers):
        y = part(y, graph(chain))
    (heard,) = torch.autograd.grad(y[0, 0].square().sum(), x)
    assert (heard[0].abs().sum(-1) > 0).tolist() == [i <= layers for i in range(6)]


def test_a_line_of_tokens_has_no_edges_and_is_refused() -> None:
    with pytest.raises(UsageError, match="needs the edges of a graph"):
        attention("edges:3")(nodes(), line(6, batch=2))
    with pytest.raises(UsageError, match="got edges:0:0"):
        attention("edges:0")

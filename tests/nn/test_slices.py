"""Rows of like length are read together: the same numbers, of fewer tokens."""

from collections.abc import Sequence

import pytest
import torch
from torch import nn

from heedful.models.transformer import Transformer, TransformerConfig
from heedful.nn import slices
from heedful.nn.edges import Graph
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.slices import in_slices, like
from heedful.nn.watching import watch

LENGTHS = [3, 16, 15, 4, 9, 1, 16, 10]


class Counting(nn.Module):
    """Says each vector and where it stands, and counts what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[int, ...]] = []

    def forward(self, x: torch.Tensor, at: Layout) -> torch.Tensor:
        self.given.append(tuple(at.positions.shape))
        assert at.filling == Layout(at.positions, at.segments).filling  # what is said of it is so
        return x + at.positions[..., None] + at.segments[..., None]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "FEWEST", 10)


def seen(at: Layout, learns: bool = False) -> Sequence[tuple[int, ...]]:
    """The shapes in which a layout's rows are read; what is made of them is the same."""
    read, x = Counting(), torch.randn(*at.positions.shape, 2)
    with torch.set_grad_enabled(learns):
        found = in_slices(read, x, at)
    assert torch.equal(found[at.real], Counting()(x, at)[at.real])
    return read.given


def test_rows_are_read_with_those_of_like_length() -> None:
    assert seen(ragged(LENGTHS)) == [(3, 16), (2, 10), (3, 4)]
    assert seen(ragged([0, 16, 12, 12, 16, 0])) == [(2, 16), (2, 12)]  # of two there is nothing


def test_rows_are_read_as_they_are_where_that_is_as_well_or_needed() -> None:
    every = [(8, 16)]
    assert seen(ragged(LENGTHS), learns=True) == every
    assert seen(line(16, batch=8)) == every
    packed = ragged(LENGTHS)
    packed.segments[0, 5:9] = 2
    assert seen(Layout(packed.positions, packed.segments)) == every
    graph = ragged(LENGTHS)
    types = torch.zeros(8, 16, 16, dtype=torch.long)
    assert seen(Graph(graph.positions, graph.segments, filled="padded", types=types)) == every
    assert seen(ragged([16, 15, 14, 14])) == [(4, 16)]


def test_a_slice_has_enough_to_multiply() -> None:
    assert like([]) == [[]]
    assert like([9, 2, 2, 1]) == [[0, 1], [2, 3]]  # 9 tokens are too few by themselves
    assert like([4, 20, 19]) == [[1, 2], [0]]


def test_an_encoder_reads_a_batch_as_it_reads_each_sentence() -> None:
    config = TransformerConfig(dim=16, ff=32, heads=2, layers=2, dropout=0.0)
    body, x, at = Transformer(config).eval(), torch.randn(8, 16, 16), ragged(LENGTHS)
    with torch.inference_mode():
        found = body.encode(x, at)
        for row, length in enumerate(LENGTHS):
            alone = body.encode(x[row : row + 1, :length], line(length)).x[0]
            torch.testing.assert_close(found.x[row, :length], alone)
    assert found.at is at


def test_who_watches_sees_all_rows_at_once() -> None:
    config = TransformerConfig(dim=16, ff=32, heads=2, layers=1, dropout=0.0)
    body, x = Transformer(config).eval(), torch.randn(8, 16, 16)
    with torch.inference_mode(), watch(body) as there:
        body.encode(x, ragged(LENGTHS))
    assert [weights.shape for _, weights in there.weights] == [(8, 2, 16, 16)]

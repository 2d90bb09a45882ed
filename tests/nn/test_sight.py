"""What is known of who sees whom, without looking at each pair."""

import pytest
import torch

from heedful.nn.layout import Layout, line, ragged
from heedful.nn.patterns import Causal, Dilated, Full, InBlocks, Near, Pattern, Visible
from heedful.nn.sight import Sight, sight

SOURCE = ragged([4, 2])


def test_the_last_of_a_line_sees_all_of_it_and_nobody_need_look() -> None:
    seen = Sight(Visible() & Causal(), line(1, 4, batch=2), line(5, batch=2))
    assert seen.clear and seen._dense is None and bool(seen.dense.all())


@pytest.mark.parametrize(
    ("pattern", "q", "k"),
    [
        (Visible() & Causal() & Near(2), line(1, 4), line(5)),
        (Visible() & Causal(), line(2, 3), line(5)),  # the first of two does not see the second
        (Visible() & Causal(), line(1, 2), line(5)),
        (Visible() & Causal(), line(1, 1, batch=2), ragged([2, 1])),
        (Visible() & Causal(), Layout(torch.tensor([[0]]), torch.tensor([[2]])), line(1)),
        (Visible() & Causal(), line(1, 4), Layout(torch.arange(5)[None], torch.full((1, 5), 3))),
    ],
    ids=repr,
)
def test_others_are_looked_at(pattern: Pattern, q: Layout, k: Layout) -> None:
    seen = Sight(pattern, q, k)
    assert not seen.clear and not bool(seen.dense.all())


def test_what_lasts_serves_later_queries_of_the_same_keys() -> None:
    first = sight(Visible() & Full(), line(1, 3, batch=2), SOURCE, lasting=True)
    later = line(1, 4, batch=2)
    assert sight(Visible() & Full(), later, SOURCE, lasting=True) is first
    assert torch.equal(first.dense, Sight(Visible() & Full(), later, SOURCE).dense)
    assert sight(Visible() & Full(), line(2, 4, batch=2), SOURCE, lasting=True) is not first
    assert sight(Visible() & Full(), later, SOURCE) is not first
    assert sight(Visible() & Full(), later, ragged([4, 2]), lasting=True) is not first


@pytest.mark.parametrize("pattern", [Causal(), Near(2), InBlocks(2), Dilated(2)], ids=repr)
def test_what_asks_for_places_does_not_last(pattern: Pattern) -> None:
    first = sight(Visible() & pattern, line(1, 1, batch=2), SOURCE, lasting=True)
    later = sight(Visible() & pattern, line(1, 2, batch=2), SOURCE, lasting=True)
    assert later is not first and not torch.equal(later.dense, first.dense)


def test_what_is_hidden_is_shaded() -> None:
    seen = Sight(Visible() & Full(), line(1, batch=2), SOURCE)
    scores = torch.randn(2, 1, 1, 4)
    shares = (scores + seen.shade).softmax(-1)
    assert torch.equal(shares > 0, seen.dense)

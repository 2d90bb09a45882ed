"""Summaries: what each is of plain rows, and that packing and padding change nothing."""

import pytest
import torch

from heedful.nn.layout import Layout, line, ragged
from heedful.nn.summaries import Attend, summary

POOLINGS = ("attend", "max", "mean", "first")
ONE = line(1, batch=2)


def test_what_each_summary_is() -> None:
    x = torch.tensor([[[1.0, -4.0], [3.0, -2.0], [9.0, 9.0]], [[5.0, 0.0], [7.0, 7.0], [0.0, 0.0]]])
    at = ragged([2, 1], 3)
    assert summary("max", 2)(x, at, ONE).tolist() == [[[3.0, -2.0]], [[5.0, 0.0]]]
    assert summary("mean", 2)(x, at, ONE).tolist() == [[[2.0, -3.0]], [[5.0, 0.0]]]
    assert summary("first", 2)(x, at, ONE).tolist() == [[[1.0, -4.0]], [[5.0, 0.0]]]


def test_attention_is_a_softmax_over_what_is_there() -> None:
    part = Attend(4)
    x, at = torch.randn(2, 5, 4), ragged([5, 3])
    made = part(x, at, ONE)
    scores = part.score(torch.tanh(part.inner(x)))[..., 0]
    for row, length in enumerate([5, 3]):
        weights = scores[row, :length].softmax(0)
        torch.testing.assert_close(made[row, 0], weights @ x[row, :length])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_packed_texts_are_summed_up_each_for_itself(pooling) -> None:
    part = summary(pooling, 3).double()
    first, second = torch.randn(1, 4, 3).double(), torch.randn(1, 2, 3).double()
    packed = torch.cat([first, second, torch.randn(1, 1, 3).double()], 1)
    at = Layout(torch.tensor([[0, 1, 2, 3, 0, 1, 0]]), torch.tensor([[1, 1, 1, 1, 2, 2, 0]]))
    of = Layout(torch.tensor([[0, 1, 0, 1, 0]]), torch.tensor([[1, 1, 2, 2, 0]]))
    made = part(packed, at, of)
    for place, text in ((0, first), (1, first), (2, second), (3, second)):
        alone = part(text, line(text.shape[1]), line(1))
        torch.testing.assert_close(made[0, place], alone[0, 0])
    assert not made[0, 4].any()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_text_without_a_token_is_summed_up_as_nothing(pooling) -> None:
    x = torch.randn(1, 3, 4, requires_grad=True)
    nothing = Layout(torch.zeros(1, 3, dtype=torch.long), torch.zeros(1, 3, dtype=torch.long))
    made = summary(pooling, 4)(x, nothing, line(1))
    made.sum().backward()
    assert not made.any() and not x.grad.isnan().any()

"""Learning to choose: draws are by weight, and what did better than usual is made likelier."""

import copy

import pytest
import torch

from heedful.nn.layout import Layout, ragged
from heedful.nn.rewards import MovingBaseline, draw, of_sequence, reward_loss


def test_draws_are_as_frequent_as_their_weights_say() -> None:
    weights = torch.tensor([0.5, 0.3, 0.2, 0.0]).expand(40_000, 4)
    drawn = draw(weights)
    assert (drawn.sum(-1) == 1).all() and not drawn[:, 3].any()
    torch.testing.assert_close(drawn.mean(0), weights[0], atol=0.01, rtol=0)


def test_nothing_is_drawn_where_nothing_may_be() -> None:
    assert not draw(torch.zeros(3, 5)).any()


def test_the_sum_over_a_sequence_is_a_loop() -> None:
    at = Layout(torch.tensor([[0, 1, 0, 1, 2, 0]]), torch.tensor([[1, 1, 2, 2, 2, 0]]))
    values = torch.tensor([[1.0, 2.0, 10.0, 20.0, 30.0, 7.0]])
    assert of_sequence(values, at).tolist() == [[3.0, 3.0, 60.0, 60.0, 60.0, 0.0]]


def test_the_baseline_moves_by_a_tenth_and_is_shared_by_copies() -> None:
    baseline = MovingBaseline()
    baseline.move(torch.tensor([[-4.0, -9.0], [-2.0, 0.0]]), torch.tensor([[True, False]] * 2))
    assert baseline.value.item() == pytest.approx(-0.3)
    baseline.move(torch.tensor([[5.0]]), torch.tensor([[False]]))
    assert baseline.value.item() == pytest.approx(-0.3)
    twin = copy.deepcopy(torch.nn.Sequential(baseline))
    twin[0].move(torch.tensor([[-0.3]]), torch.tensor([[True]]))
    assert twin[0] is baseline and "value" in baseline.state_dict()


def test_a_better_outcome_makes_its_choice_likelier_and_padding_says_nothing() -> None:
    at = ragged([2, 1])
    scores = torch.zeros(2, 2, 3, requires_grad=True)
    weights = scores.softmax(-1) * at.real[..., None]
    drawn = torch.zeros(2, 2, 3)
    drawn[0, 0, 1] = drawn[0, 1, 2] = drawn[1, 0, 0] = 1
    outcome = torch.tensor([[2.0, 2.0], [-1.0, 0.0]])
    loss = reward_loss(weights, drawn, outcome, at, MovingBaseline(), 1.0, 0.0)
    loss.backward()
    assert scores.grad[0, 0].argmin() == 1 and scores.grad[0, 1].argmin() == 2
    assert scores.grad[1, 0].argmax() == 0  # worse than the baseline of 0
    assert not scores.grad[1, 1].any()

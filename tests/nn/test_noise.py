"""Words are drawn as often as they are to be expected, and no frequent one twice."""

import math

import pytest
import torch

from heedful.nn.noise import Noise, at_most_once, log_uniform, unigram


def counted(noise: Noise, times: int) -> torch.Tensor:
    draws = torch.cat([noise.draw() for _ in range(times)])
    return torch.bincount(draws, minlength=len(noise.expected)).double()


def test_log_uniform_odds_fall_as_one_by_rank_and_add_up_to_one() -> None:
    odds = log_uniform(1_000)
    torch.testing.assert_close(odds.sum(), torch.tensor(1.0, dtype=torch.double))
    torch.testing.assert_close(odds[9], torch.tensor(math.log(11 / 10) / math.log(1_001)).double())


def test_draws_are_as_frequent_as_the_words_to_the_power_of_three_quarters() -> None:
    counts = torch.tensor([0.0, 5_000, 3_000, 999, 499, 99, 49, 9])
    odds = unigram(counts, 8, 0.75)
    torch.testing.assert_close(odds[1] / odds[3], torch.tensor((5_001 / 1_000) ** 0.75).double())
    seen = counted(Noise(odds * 64), 2_000)
    wanted = odds * seen.sum()
    assert ((seen - wanted) ** 2 / wanted).sum() < 24.3  # chi-square of 7 degrees, 0.1 %
    even = torch.full_like(odds, float(seen.sum()) / 8)
    assert ((seen - even) ** 2 / even).sum() > 1_000  # the test can tell


def test_where_nobody_counted_rank_says_how_frequent_a_word_is() -> None:
    torch.testing.assert_close(unigram(None, 50), log_uniform(50))


@pytest.mark.parametrize("count", [1, 7, 40, 99])
def test_each_word_is_drawn_once_at_most_and_as_often_as_expected(count: int) -> None:
    odds = log_uniform(100)
    expected = at_most_once(odds, count)
    assert math.isclose(float(expected.sum()), count) and float(expected.max()) <= 1
    free = expected < 1
    shares = (expected / odds)[free]
    torch.testing.assert_close(shares, shares[:1].expand_as(shares))  # in proportion to the odds
    noise = Noise(expected)
    times = 3_000
    seen = counted(noise, times)
    assert (seen[~free] == times).all()  # the frequent come every time
    error = (expected * (1 - expected) / times).sqrt()
    assert ((seen / times - expected).abs() <= 4.5 * error + 1e-9).all()


def test_odds_in_any_order_give_the_same_expectations() -> None:
    order = torch.randperm(30)
    odds = log_uniform(30)
    torch.testing.assert_close(at_most_once(odds[order], 9), at_most_once(odds, 9)[order])


def test_when_all_are_wanted_all_are_drawn() -> None:
    noise = Noise(at_most_once(log_uniform(12), 12))
    assert sorted(noise.draw().tolist()) == list(range(12))

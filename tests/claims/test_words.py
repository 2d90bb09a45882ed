"""What claims about words measure with."""

import torch

from heedful.claims.large_vocabularies import TRAININGS
from heedful.claims.skip_gram import purity
from heedful.claims.weighing import Softmax, weigh
from heedful.config import vary
from heedful.nn.candidates import Sampled
from heedful.nn.losses import Smoothing


def test_purity_is_the_share_of_neighbours_of_ones_own_group() -> None:
    groups = torch.arange(60) % 3
    vectors = torch.nn.functional.one_hot(groups, 3) + 0.01 * torch.randn(60, 3)
    assert purity(vectors, groups) == 1.0
    assert purity(vectors, groups.roll(20)) == 1.0  # a group by another name
    by_chance = purity(torch.randn(600, 30), torch.arange(600) % 3)
    assert abs(by_chance - 1 / 3) < 0.03  # a word is no neighbour of its own


def test_looking_at_few_words_takes_less_time() -> None:
    full = Softmax(objective=Smoothing(amount=0.0), tokens=256, dim=32, size=20_000)
    few = Softmax(objective=Sampled(samples=200), tokens=256, dim=32, size=20_000)
    cpu = torch.device("cpu")
    slow, fast = weigh(full, cpu), weigh(few, cpu)
    assert fast.seconds < slow.seconds / 2
    assert slow.gigabytes is None


def test_every_softmax_trains_under_the_same_budget_on_the_same_words() -> None:
    configs = [TRAININGS.config(arm, 1, smoke=False) for arm in TRAININGS.arms[:5]]
    same = {"loss": Smoothing(), "batch.words": 0}
    assert len({vary(config.preset, same) for config in configs}) == 1
    assert {config.problem for config in configs} == {configs[0].problem}
    assert len({config.preset.loss for config in configs}) == len(configs) == 5

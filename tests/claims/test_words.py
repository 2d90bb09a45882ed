"""What claims about words measure with."""

from dataclasses import replace

import torch
from torch.utils.flop_counter import FlopCounterMode

from heedful.claims.base import Context, claims
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


def test_looking_at_few_words_takes_fewer_products() -> None:
    full = Softmax(objective=Smoothing(amount=0.0), tokens=256, dim=32, size=20_000)
    few = Softmax(objective=Sampled(samples=200), tokens=256, dim=32, size=20_000)
    counted = []
    for softmax in (full, few):
        with FlopCounterMode(display=False) as counter:
            taken = weigh(softmax, torch.device("cpu"))
        assert taken.seconds > 0 and taken.gigabytes is None  # which is not counted on a CPU
        counted.append(counter.get_total_flops())
    assert 0 < counted[1] < counted[0] / 20


def test_the_language_model_is_not_trained_anew_for_a_classifier(context: Context) -> None:
    measure = claims.get("elmo_transfer")().measure
    small = replace(context, budget="smoke", device="cpu")
    measure(replace(small, only=("lm", "cola_scratch")))
    runs = {name: context.run_of(name, 1) / "config.json" for name in ("lm", "cola_scratch")}
    before = {name: path.stat().st_mtime_ns for name, path in runs.items()}
    measure(replace(small, only=("cola_scratch",), fresh=True))
    after = {name: path.stat().st_mtime_ns for name, path in runs.items()}
    assert after["lm"] == before["lm"] and after["cola_scratch"] > before["cola_scratch"]


def test_every_softmax_trains_under_the_same_budget_on_the_same_words() -> None:
    configs = [TRAININGS.config(arm, 1, smoke=False) for arm in TRAININGS.arms[:5]]
    same = {"loss": Smoothing(), "batch.words": 0}
    assert len({vary(config.preset, same) for config in configs}) == 1
    assert {config.problem for config in configs} == {configs[0].problem}
    assert len({config.preset.loss for config in configs}) == len(configs) == 5

"""Paired tests: sacreBLEU's for its own metrics, and for shares with ties counted."""

import random

import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from heedful.errors import HeedfulError
from heedful.metrics.base import SEED, score
from heedful.metrics.significance import Chance, compare

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "in", "big", "red", "mat", "house"]
CHANCE = Chance(samples=60, trials=80)


def system(errors: float, seed: int, lines: int = 60) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join("x" if rng.random() < errors else word for word in line.split())
        for line in references(lines)
    ]


def references(lines: int = 60) -> list[str]:
    rng = random.Random(0)
    return [" ".join(rng.choices(WORDS, k=rng.randint(4, 9))) for _ in range(lines)]


@pytest.mark.parametrize(("name", "judge"), [("bleu", BLEU), ("chrf", CHRF)])
@pytest.mark.parametrize("seed", [SEED, 5])
def test_p_values_are_those_of_sacrebleu(monkeypatch, name, judge, seed):
    first, second, refs = system(0.2, 1), system(0.25, 2), [references(), system(0.1, 3)]
    found = compare(first, second, refs, [name], Chance(samples=60, trials=80, seed=seed))[name]
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    for kind, count, p in ("bs", 60, found.p_bootstrap), ("ar", 80, found.p_randomization):
        test = PairedTest([("a", first), ("b", second)], {"m": judge()}, refs, kind, count)
        scores = next(v for k, v in test()[1].items() if k != "System")
        assert p == scores[1].p_value
        assert found.first["value"] == scores[0].score and found.second["value"] == scores[1].score
        if kind == "bs":
            for entry, result in zip((found.first, found.second), scores, strict=True):
                assert entry["interval"]["mean"] == pytest.approx(result.mean)
                assert entry["interval"]["half"] == pytest.approx(result.ci)
    assert found.difference == found.second["value"] - found.first["value"]
    assert found.first["signature"].startswith("nrefs:2|case:mixed|")


@pytest.mark.parametrize("name", ["bleu", "ter", "token_accuracy", "rouge1"])
def test_a_large_difference_is_no_chance_and_a_small_one_may_be(name):
    good, same, bad = system(0.1, 1), system(0.1, 2), system(0.5, 3)
    far = compare(good, bad, [references()], [name], CHANCE)[name]
    near = compare(good, same, [references()], [name], CHANCE)[name]
    assert max(far.p_bootstrap, far.p_randomization) < 0.05
    assert max(near.p_bootstrap, near.p_randomization) > 0.1
    assert (far.difference > 0) == (name == "ter")


def test_equal_systems_do_not_differ():
    lines = system(0.2, 1)
    for found in compare(lines, list(lines), [references()], ["bleu", "rouge1"], CHANCE).values():
        assert found.difference == 0 and found.p_bootstrap == found.p_randomization == 1.0


def test_one_line_that_differs_is_chance_to_a_share():
    first = references(200)
    second = ["wrong", *first[1:]]
    found = compare(first, second, [first], ["exact_match"], CHANCE)["exact_match"]
    assert found.difference == pytest.approx(-0.5)
    assert found.p_randomization == 1.0 and found.p_bootstrap > 0.1


def test_the_randomization_of_a_share_is_right_where_it_can_be_counted():
    """Of three lines that differ, all one way, two of eight signs give as large a difference."""
    first, second = ["a", "b", "c", "d"], ["a", "x", "x", "x"]
    chance = Chance(samples=50, trials=4_000)
    found = compare(first, second, [first], ["exact_match"], chance)["exact_match"]
    assert found.p_randomization == pytest.approx(2 / 8, abs=0.03)


def test_the_scores_are_those_of_score():
    first, second, refs = system(0.2, 1), system(0.25, 2), references()
    names = ["bleu", "rougeL", "exact_match"]
    compared = compare(first, second, [refs], names, CHANCE)
    for side, lines in ("first", first), ("second", second):
        plain = score(lines, refs, names)
        spread = score(lines, refs, names, bootstrap=60)
        for name in names:
            entry = dict(getattr(compared[name], side))
            interval = entry.pop("interval")
            assert entry == plain[name]
            assert interval["mean"] == pytest.approx(spread[name]["interval"]["mean"], rel=1e-5)
            assert interval["half"] == pytest.approx(spread[name]["interval"]["half"], rel=1e-5)


def test_both_systems_must_pair_up_with_the_references():
    with pytest.raises(HeedfulError, match="2 hypotheses for 1 references"):
        compare(["a"], ["a", "b"], [["a"]], ["bleu"])

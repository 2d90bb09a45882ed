import random
from itertools import islice

from heedful.metrics.base import metrics
from heedful.problems.demo_en_fr import SPLITS
from heedful.registry import problems


def test_the_demo_problem_has_every_split_of_its_grammar_and_metrics_that_exist() -> None:
    problem = problems.get("translate_demo_en_fr")()
    assert tuple(problem.sizes) == SPLITS
    assert set(problem.metrics) <= set(metrics.names()) and problem.best_by in problem.metrics
    assert problem.features["inputs"] == problem.features["targets"]  # one shared vocabulary


def test_examples_are_english_and_french() -> None:
    problem = problems.get("translate_demo_en_fr")()
    (pair,) = islice(problem.examples("train", random.Random(3)), 1)
    assert set(pair) == {"inputs", "targets"} and pair["inputs"] != pair["targets"]


def test_coreference_twins_stand_side_by_side() -> None:
    """The same sentence but for one word, and the French pronoun changes with it."""
    problem = problems.get("translate_demo_en_fr")()
    found = list(islice(problem.examples("test_coreference", random.Random(4)), 20))
    for one, other in zip(found[::2], found[1::2], strict=True):
        words = zip(one["inputs"].split(), other["inputs"].split(), strict=False)
        apart = [a for a, b in words if a != b]
        assert apart and one["targets"] != other["targets"]

import math
import subprocess
import sys

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import HeedfulError, UsageError
from heedful.metrics.base import LOWER, metrics, score
from heedful.metrics.likelihood import Likelihood

SAID = ["Le chat dort sur le tapis .", "Elle mange une pomme.", "il pleut", "Où va-t-il ?"]
MEANT = [
    "Le chat dort sur le tapis.",
    "Elle mange une grosse pomme.",
    "Il pleut",
    "Où va-t-il ?",
]

WORDS = st.text("abil es", max_size=9)


def test_bleu_and_chrf_are_those_of_sacrebleu_with_their_signatures():
    found = score(SAID, MEANT, ["bleu", "chrf"])
    assert found["bleu"]["value"] == sacrebleu.corpus_bleu(SAID, [MEANT]).score
    assert found["chrf"]["value"] == sacrebleu.corpus_chrf(SAID, [MEANT]).score
    assert found["bleu"]["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|")
    assert found["chrf"]["signature"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|")


def test_a_perfect_output_scores_a_hundred_everywhere():
    for name, found in score(MEANT, MEANT, metrics.names()).items():
        assert found["value"] == pytest.approx(0.0 if name in LOWER else 100.0), name


def test_exact_match_is_the_percent_of_equal_lines():
    assert score(["a b", " c ", "D", ""], ["a b", "c", "d", ""], ["exact_match"]) == {
        "exact_match": {"value": 75.0}
    }


@pytest.mark.parametrize(
    ("said", "meant", "value"),
    [
        (["a b c"], ["a b c"], 100.0),
        (["a x c"], ["a b c"], 100 * 2 / 3),
        (["a b"], ["a b c"], 100 * 2 / 3),
        (["a b c d"], ["a b c"], 75.0),
        (["b c a"], ["a b c"], 0.0),
        (["", "a"], ["b c d", "a"], 25.0),
        ([""], [""], 100.0),
    ],
)
def test_token_accuracy_counts_missing_and_extra_words_as_wrong(said, meant, value):
    assert score(said, meant, ["token_accuracy"])["token_accuracy"]["value"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("said", "meant", "right"),
    [
        ("Elle dort.", "elle dort .", True),
        ("Il dort.", "Elle dort.", False),
        ("Ils dorment.", "Il dort.", False),
        ("Elle dit qu'il pleut.", "Il dit qu'elle pleut.", False),
        ("Pleut-il ?", "il pleut", True),
        ("Une pile de celles-là", "Un file", True),
        ("Elle", "", False),
    ],
)
def test_pronouns_must_be_the_same_in_the_same_order(said, meant, right):
    assert score([said], [meant], ["pronouns"])["pronouns"]["value"] == 100.0 * right


@settings(max_examples=20)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_shares_are_between_nought_and_a_hundred(pairs):
    said, meant = [a for a, _ in pairs], [b for _, b in pairs]
    shares = ["exact_match", "token_accuracy", "pronouns", "rouge1", "rouge2", "rougeL"]
    for found in score(said, meant, shares).values():
        assert 0.0 <= found["value"] <= 100.0


def test_lines_that_do_not_pair_up_are_an_error():
    with pytest.raises(HeedfulError, match="2 hypotheses for 3 references"):
        score(["a", "b"], ["a", "b", "c"], ["bleu"])
    with pytest.raises(HeedfulError, match="1 sources for 2 references"):
        score(["a", "b"], ["a", "b"], ["bleu"], sources=["a"])


def test_nothing_to_score_is_an_error():
    with pytest.raises(HeedfulError, match="no lines to score"):
        score([], [], ["bleu"])


def test_an_unknown_metric_is_an_error_that_names_the_nearest():
    with pytest.raises(UsageError, match="Close: bleu"):
        score(["a"], ["a"], ["blue"])


def test_every_metric_describes_itself():
    assert {"bleu", "chrf", "exact_match", "token_accuracy", "pronouns"} <= set(metrics.names())
    assert all(metrics.describe(name) for name in metrics.names())


def test_likelihoods_add_up():
    whole = Likelihood(6.0, 2) + Likelihood(2.0, 6) + Likelihood()
    assert whole.loss == 1.0
    assert whole.scores() == {"loss": {"value": 1.0}, "perplexity": {"value": math.e}}
    assert Likelihood(1e6, 1).perplexity == math.inf
    with pytest.raises(HeedfulError, match="no target tokens"):
        Likelihood().scores()


def test_sacrebleu_is_loaded_only_when_it_is_used():
    code = "import sys; from heedful.metrics.base import metrics, score; metrics.names(); "
    code += "score(['a'], ['a'], ['exact_match', 'rougeL']); sys.exit('sacrebleu' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

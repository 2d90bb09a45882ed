"""ROUGE, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.metrics.base import score
from heedful.metrics.rouge import longest_common


def rouge(said, meant, **options):
    found = score(said, meant, ["rouge1", "rouge2", "rougeL"], **options)
    return [round(found[name]["value"], 4) for name in ("rouge1", "rouge2", "rougeL")]


@pytest.mark.parametrize(
    ("said", "meant", "f1", "f2", "fl"),
    [
        # 3 of 3 and 3 of 4 words; 1 of 2 and 1 of 3 pairs ("cat sat"); the cat sat.
        ("the cat sat", "the fat cat sat", 6 / 7, 2 / 5, 6 / 7),
        # Lin's example: "police kill" and "kill the" are no pairs of it, "the gunman" is.
        ("police kill the gunman", "police killed the gunman", 3 / 4, 1 / 3, 3 / 4),
        ("the gunman kill police", "police killed the gunman", 3 / 4, 1 / 3, 2 / 4),
        # A word counts as often as it is in both.
        ("the the the", "the cat", 2 / 5, 0, 2 / 5),
        ("It's HOT!", "it s hot", 1, 1, 1),
        ("Été_2", "été 2", 1, 1, 1),
        ("word", "word", 1, 0, 1),
        ("", "word", 0, 0, 0),
        ("!", "!", 0, 0, 0),
    ],
)
def test_f1_is_as_computed_by_hand(said, meant, f1, f2, fl):
    assert rouge([said], [meant]) == [round(100 * f, 4) for f in (f1, f2, fl)]


def test_the_score_of_many_lines_is_their_mean():
    assert rouge(["a b", "x y"], ["a b", "u v"]) == [50.0, 50.0, 50.0]


def test_of_several_references_the_best_counts_for_each_line():
    assert rouge(["a b", "x y"], ["a b", "u v"], others=[["u v", "x y"]]) == [100.0] * 3


@given(st.lists(st.sampled_from("abc"), max_size=70), st.lists(st.sampled_from("abc"), max_size=9))
def test_bits_find_the_same_subsequence_as_the_table(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
            )
    assert longest_common(a, b) == table[-1][-1] == longest_common(b, a)

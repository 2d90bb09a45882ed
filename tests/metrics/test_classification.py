"""Accuracy, F1 and Matthews' correlation, by hand and by their formulas."""

import math

import pytest

from heedful.metrics.base import score

NAMES = ("accuracy", "f1", "matthews")


def scored(said: str, meant: str) -> dict[str, float]:
    return {k: v["value"] for k, v in score(said.split(), meant.split(), NAMES).items()}


def test_of_two_labels_the_one_that_sorts_last_is_sought() -> None:
    # TP 2, FP 1, FN 1, TN 2
    found = scored("1 1 1 0 0 0", "1 1 0 1 0 0")
    assert found["accuracy"] == pytest.approx(100 * 4 / 6)
    assert found["f1"] == pytest.approx(100 * 4 / 6)
    correlation = (2 * 2 - 1 * 1) / math.sqrt(3 * 3 * 3 * 3)
    assert found["matthews"] == pytest.approx(100 * correlation)


def test_f1_is_not_accuracy() -> None:
    # TP 1, FP 2, FN 0, TN 3
    found = scored("yes yes yes no no no", "yes no no no no no")
    assert found["f1"] == pytest.approx(100 * 2 / 4)
    assert found["matthews"] == pytest.approx(100 * 3 / math.sqrt(3 * 1 * 5 * 3))
    assert scored("no no", "yes no")["f1"] == 0.0


def test_of_several_labels_f1_is_the_mean_over_them() -> None:
    # a: TP 1, FP 0, FN 1; b: TP 1, FP 1, FN 0; c: TP 1
    found = scored("a b b c", "a a b c")
    assert found["f1"] == pytest.approx(100 * (2 / 3 + 2 / 3 + 1) / 3)
    # R_K by its covariances: 3 right of 4; said 1, 2, 1 and meant 2, 1, 1.
    assert found["matthews"] == pytest.approx(
        100 * (3 * 4 - (1 * 2 + 2 * 1 + 1 * 1)) / math.sqrt((16 - 6) * (16 - 6))
    )


def test_all_right_all_wrong_and_always_the_same() -> None:
    assert scored("0 1 0 1", "0 1 0 1") == {"accuracy": 100.0, "f1": 100.0, "matthews": 100.0}
    assert scored("1 0 1 0", "0 1 0 1") == {"accuracy": 0.0, "f1": 0.0, "matthews": -100.0}
    assert scored("1 1 1 1", "0 1 0 1")["matthews"] == 0.0
    assert scored("1 1", "1 1") == {"accuracy": 100.0, "f1": 100.0, "matthews": 0.0}


def test_a_line_without_a_label_is_wrong_and_no_label_of_its_own() -> None:
    found = score(["1", "", "0"], ["1", "1", "0"], NAMES)
    assert found["accuracy"]["value"] == pytest.approx(100 * 2 / 3)
    assert found["f1"]["value"] == pytest.approx(100 * 2 / 3)  # of the label 1, not a mean of three
    assert found["matthews"]["value"] < 100

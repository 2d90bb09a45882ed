"""BLEU of captions: an output against all captions of its picture, counted once."""

import math

import pytest
from sacrebleu.metrics import BLEU

from heedful.metrics.base import score
from heedful.metrics.captions import by_picture

OUTPUTS = ["a dog runs on grass"] * 3 + ["two men sit on a bench"] * 2
REFERENCES = [
    "A dog runs over grass",
    "the dog is on grass",
    "a brown dog",
    "two men sit",
    "men on a bench in a park",
]
SOURCES = ["dog.jpg"] * 3 + ["men.jpg"] * 2


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_it_is_sacrebleu_over_pictures(order: int) -> None:
    name = f"caption_bleu{order}"
    found = score(OUTPUTS, REFERENCES, [name], SOURCES)[name]
    streams = [
        ["A dog runs over grass", "two men sit"],
        ["the dog is on grass", "men on a bench in a park"],
        ["a brown dog", None],
    ]
    judge = BLEU(lowercase=True, max_ngram_order=order, force=True)
    expected = judge.corpus_score(["a dog runs on grass", "two men sit on a bench"], streams)
    assert found["value"] == pytest.approx(expected.score)
    assert 0 < found["value"] < 100 and "case:lc" in found["signature"]


def test_one_word_by_hand() -> None:
    """All of 5 + 6 words stand in a reference; the nearest references have 5 + 7."""
    found = score(OUTPUTS, REFERENCES, ["caption_bleu1"], SOURCES)["caption_bleu1"]
    assert found["value"] == pytest.approx(100 * math.exp(1 - 12 / 11))
    worse = score(["a cat runs", "x"], ["a dog runs", "y"], ["caption_bleu1"], ["1", "1"])
    assert worse["caption_bleu1"]["value"] == pytest.approx(100 * 2 / 3)


def test_without_sources_every_line_is_a_picture() -> None:
    outputs, sets = by_picture(["a", "b"], ["c", "d"], None)
    assert outputs == ["a", "b"] and sets == [["c", "d"]]
    assert score(["a dog"], ["a dog"], ["caption_bleu2"])["caption_bleu2"][
        "value"
    ] == pytest.approx(100)


def test_it_can_be_resampled_and_given_sets_of_references() -> None:
    found = score(OUTPUTS, REFERENCES, ["caption_bleu1"], others=[OUTPUTS], bootstrap=20)
    assert found["caption_bleu1"]["value"] == pytest.approx(100)
    assert found["caption_bleu1"]["interval"]["samples"] == 20

"""What the claims on recurrent models read off their runs."""

import numpy as np
import pytest

from heedful.claims import alignment, long_sentences
from heedful.claims.base import claims
from heedful.claims.dictionary import Dictionary
from heedful.problems.demo_en_fr import words


def test_the_grammar_gives_its_alignment_with_its_sentences() -> None:
    made = list(alignment.from_grammar(20))
    assert len(made) == 20
    for english, french, links in made:
        assert {read for read, _ in links} <= set(range(len(words(english))))
        assert {said for _, said in links} <= set(range(len(words(french))))
        assert [english[a:b] for a, b in alignment.spans(english)] == words(english)


GERMAN = ["hund", "mann", "rot", "frau", "ein"]
ENGLISH = ["dog", "man", "red", "woman", "a"]
MEANT = [([german], [english]) for german, english in zip(GERMAN, ENGLISH, strict=True)]


def test_a_dictionary_is_learnt_from_what_comes_together() -> None:
    pairs = [
        (["der", "hund", "läuft"], ["the", "dog", "runs"]),
        (["der", "mann", "läuft"], ["the", "man", "runs"]),
        (["der", "hund", "sitzt"], ["the", "dog", "sits"]),
        (["ein", "mann", "sitzt"], ["a", "man", "sits"]),
        ([], ["nothing"]),
    ]
    known = Dictionary.learnt(pairs, common=0)
    for german, english in zip(
        ["der", "hund", "mann", "läuft", "sitzt"],
        ["the", "dog", "man", "runs", "sits"],
        strict=True,
    ):
        best = max((chance, word) for (one, word), chance in known.there.items() if one == german)
        assert best[1] == english and best[0] > 0.5
    assert known.links(["sitzt", "der", "hund"], ["the", "dog", "sits"]) == ((0, 2), (1, 0), (2, 1))
    assert known.links(["hund", "hund", "mann"], ["dog", "man"]) == ((2, 1),)  # which hund?
    assert not known.links(["katze"], ["cat"])
    assert Dictionary.learnt([]).links(["hund"], ["dog"]) == ()
    rest = Dictionary.learnt(pairs, common=1)  # without "der" and "the"
    assert rest.links(["der", "hund"], ["the", "dog"]) == ((1, 1),)


def test_links_of_the_dictionary_are_those_of_words_that_stand_once() -> None:
    texts = [
        ("Ein Mann, rot, mit Hund.", "A dog, red, and a man."),
        ("Mann und Mann.", "Man."),
        ("Nichts davon.", "None of it."),
    ]
    known = Dictionary.learnt([*MEANT, (["."], ["."]), ([","], [","])], common=0)
    assert list(alignment.from_dictionary(known, texts)) == [(*texts[0], ((1, 7), (3, 3), (6, 1)))]


def test_swaps_are_links_that_cross() -> None:
    assert list(alignment.swaps(((0, 0), (1, 2), (2, 1)))) == [((1, 2), (2, 1))]
    assert not list(alignment.swaps(((0, 0), (1, 1), (2, 1))))


def test_a_swap_is_seen_to_where_words_look_in_that_order() -> None:
    pairs = list(alignment.swaps(((0, 0), (1, 2), (2, 1))))
    looks = {"swapped": [0, 2, 1], "near": [0, 2, 0], "in order": [0, 1, 2], "at one": [0, 1, 1]}
    seen = {name: alignment.seen_to(np.eye(3)[places], pairs) for name, places in looks.items()}
    assert seen == {"swapped": (1, 1), "near": (1, 1), "in order": (0, 1), "at one": (0, 1)}


def test_sentences_are_scored_by_their_length() -> None:
    short, long = "ein kleiner hund läuft jetzt", " ".join(["wort"] * 20)
    right, wrong = "a small dog runs now", "nothing of it is right"
    buckets = (8, 11, 100)
    found = long_sentences.bleu_by_length([right, wrong], [right, right], [short, long], buckets)
    assert found[8] == pytest.approx(100.0) and found[100] < 20 and found[11] == 0.0
    assert tuple(found) == buckets


def test_long_sentences_are_read_off_both_corpora() -> None:
    trainings = claims.get("attention_long_sentences")().measure
    assert {arm.problem for arm in trainings.arms} == set(long_sentences.BUCKETS)
    for arm in trainings.arms:
        other = long_sentences.LADDER[arm.name.removeprefix("tatoeba_")][0]
        assert arm.preset == other


@pytest.mark.parametrize(
    "name",
    [
        "reversed_source",
        "reversed_source_multi30k",
        "attention_scores",
        "attention_dates",
        "gnmt_depth",
        "attention_long_sentences",
        "alignment",
    ],
)
def test_what_is_compared_is_trained_for_as_many_tokens(name: str) -> None:
    trainings = claims.get(name)().measure
    by_problem: dict[str, set[int]] = {}
    for arm in trainings.arms:
        config = trainings.config(arm, 1, smoke=False)
        by_problem.setdefault(arm.problem, set()).add(config.preset.batch.tokens)
    assert all(len(tokens) == 1 for tokens in by_problem.values())

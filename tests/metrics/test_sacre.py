"""BLEU, chrF and TER: to the last digit what sacreBLEU says, by its library and by its command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from heedful.errors import HeedfulError, UsageError
from heedful.metrics.base import LOWER, SEED, Judged, metrics, score, seeded

SAID = [
    "The cat sat on the mat .",
    "He can't come, she said.",
    "it rains in New York",
    "Prices rose 2.5 % to 1,300 euros",
    "",
]
MEANT = [
    "The cat sat on the mat.",
    "He cannot come, she said.",
    "It rains in New York",
    "Prices rose by 2.5% to 1,300 euros!",
    "Nothing",
]
OTHER = [
    "A cat was sitting on the mat.",
    '"He can\'t come," she said.',
    "In New York it rains",
    "Prices went up",
    "No",
]

THEIRS = {
    "bleu": (lambda: BLEU(), ["-m", "bleu"]),
    "bleu_lowercase": (lambda: BLEU(lowercase=True), ["-m", "bleu", "-lc"]),
    "bleu_intl": (lambda: BLEU(tokenize="intl"), ["-m", "bleu", "-tok", "intl"]),
    "bleu_unsmoothed": (lambda: BLEU(smooth_method="none"), ["-m", "bleu", "-s", "none"]),
    "bleu_tokenized": (
        lambda: BLEU(tokenize="none", smooth_method="none"),
        ["-m", "bleu", "-tok", "none", "-s", "none", "--force"],
    ),
    "chrf": (lambda: CHRF(), ["-m", "chrf"]),
    "chrf++": (lambda: CHRF(word_order=2), ["-m", "chrf", "--chrf-word-order", "2"]),
    "ter": (lambda: TER(), ["-m", "ter"]),
}


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("others", [[], [OTHER]], ids=["one reference", "two references"])
def test_values_and_signatures_are_those_of_the_library(name, others):
    theirs = THEIRS[name][0]()
    value = theirs.corpus_score(SAID, [MEANT, *others]).score
    found = score(SAID, MEANT, [name], others=others)[name]
    assert found == {"value": value, "signature": str(theirs.get_signature())}


@pytest.mark.parametrize("name", ["bleu", "chrf++", "ter"])
def test_intervals_are_those_of_the_library(name):
    theirs = THEIRS[name][0]()
    result = theirs.corpus_score(SAID[:4], [MEANT[:4]], n_bootstrap=60)
    found = score(SAID[:4], MEANT[:4], [name], bootstrap=60)[name]
    assert found["value"] == result.score
    assert found["signature"] == str(theirs.get_signature())
    assert "|bs:60|seed:12345|" in found["signature"]
    interval = found["interval"]
    assert interval["mean"] == pytest.approx(result._mean, rel=1e-5)
    assert interval["half"] == pytest.approx(result._ci, rel=1e-5)
    assert (interval["samples"], interval["seed"]) == (60, SEED)


def test_the_command_of_sacrebleu_prints_the_same(tmp_path: Path):
    hyp, ref, other = (tmp_path / name for name in ("hyp", "ref", "other"))
    for path, lines in (hyp, SAID[:4]), (ref, MEANT[:4]), (other, OTHER[:4]):
        path.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "sacrebleu", str(ref), str(other), "-i", str(hyp), "-w", "8"]
    command += ["-m", "bleu", "chrf", "ter", "--confidence", "--confidence-n", "50"]
    environment = {k: v for k, v in os.environ.items() if k != "SACREBLEU_SEED"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    theirs = {entry["name"].lower().removesuffix("2"): entry for entry in json.loads(done.stdout)}
    ours = score(SAID[:4], MEANT[:4], ["bleu", "chrf", "ter"], others=[OTHER[:4]], bootstrap=50)
    assert set(theirs) == set(ours)
    for name, entry in theirs.items():
        assert ours[name]["value"] == pytest.approx(entry["score"], abs=1e-8)
        assert ours[name]["signature"] == entry["signature"]
        assert ours[name]["interval"]["mean"] == pytest.approx(entry["confidence_mean"], abs=1e-4)
        assert ours[name]["interval"]["half"] == pytest.approx(entry["confidence_var"], abs=1e-4)


def test_a_seed_decides_what_is_drawn_and_the_environment_stays_as_it_was(monkeypatch):
    def mean(seed: int) -> float:
        return score(SAID, MEANT, ["bleu"], bootstrap=50, seed=seed)["bleu"]["interval"]["mean"]

    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    assert mean(7) == mean(7) != mean(8)
    assert "SACREBLEU_SEED" not in os.environ
    monkeypatch.setenv("SACREBLEU_SEED", "3")
    with pytest.raises(ValueError, match="stop"), seeded(9):
        raise ValueError("stop")
    assert os.environ["SACREBLEU_SEED"] == "3"


def test_empty_lines_can_be_resampled():
    names = [name for name in metrics.names() if isinstance(metrics.get(name), Judged)]
    for name, found in score(["", "", ""], ["a", "", "b c"], names, bootstrap=50).items():
        assert found["interval"]["samples"] == 50, name


def test_of_ter_less_is_better():
    good = score(SAID, MEANT, ["ter", "bleu"])
    bad = score(SAID[::-1], MEANT, ["ter", "bleu"])
    assert "ter" in LOWER and "bleu" not in LOWER
    assert good["ter"]["value"] < bad["ter"]["value"]
    assert good["bleu"]["value"] > bad["bleu"]["value"]


def test_every_set_of_references_must_be_as_long():
    with pytest.raises(HeedfulError, match="5 hypotheses for 1 references"):
        score(SAID, MEANT, ["bleu"], others=[["one"]])


def test_a_plain_function_scores_one_reference_and_says_so_of_several(monkeypatch):
    def letters(hypotheses, references, sources):
        """Letters."""
        return {"value": float(sum(map(len, hypotheses)))}

    monkeypatch.setitem(metrics._makers, "letters", letters)
    assert score(["ab"], ["c"], ["letters"]) == {"letters": {"value": 2.0}}
    with pytest.raises(UsageError, match="'letters' knows one reference and no resampling"):
        score(["ab"], ["c"], ["letters"], others=[["d"]])

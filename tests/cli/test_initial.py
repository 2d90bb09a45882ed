"""`train --init RUN`: fine-tuning, with the other run's numbers and vocabulary."""

import json
from pathlib import Path

import pytest

from .test_own_files import PRESET, TINY, text_files

SUBWORDS = [*TINY, "--set", "problem.text=subwords", "--set", "problem.text.size=300"]


@pytest.fixture
def base(heedful, tmp_path: Path) -> Path:
    run = tmp_path / "base"
    answer = heedful(
        "train", *text_files(tmp_path), "--preset", PRESET, *SUBWORDS, "--out", run, "--steps", "2"
    )
    assert answer.status == 0, answer.err
    return run


def test_a_run_begins_from_another_with_its_numbers_and_its_vocabulary(heedful, base) -> None:
    tuned = base.parent / "tuned"
    for side in ("more.en", "more.fr"):
        lines = [f"zwölf {a} Boxkämpfer {b}" for a in "abcdefg" for b in "hijklmn"]
        (base.parent / side).write_text("\n".join(lines) + "\n")
    files = ["--source", base.parent / "more.en", "--target", base.parent / "more.fr"]
    held_out = ["--set", "problem.held_out=0.1", "--set", "problem.text.extend=4"]
    answer = heedful("train", *files, "--init", base, "--out", tuned, "--steps", "3", *held_out)
    assert answer.status == 0, answer.err
    assert f"beginning from {base}" in answer.err and "4 pieces are new" in answer.err
    before = json.loads((base / "config.json").read_text())
    after = json.loads((tuned / "config.json").read_text())
    assert after["settings"]["model"] == before["settings"]["model"]
    assert after["settings"]["training"]["init"] == str(base)
    assert after["problem"]["fields"]["text"]["path"] == str(base / "vocab" / "shared.json")
    resumed = heedful("train", "--out", tuned, "--resume", "--steps", "4")
    assert resumed.status == 0 and "beginning from" not in resumed.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--resume"], "--init is for the beginning of a run"),
        (["--preset", PRESET], "Use the same model"),
    ],
)
def test_what_cannot_begin_from_another_is_said(heedful, base, more, says) -> None:
    answer = heedful(
        "train", *text_files(base.parent), "--init", base, "--out", base.parent / "x", *more
    )
    assert answer.status == 2 and says in answer.err


def test_there_must_be_a_run_to_begin_from(heedful, tmp_path) -> None:
    answer = heedful(
        "train", *text_files(tmp_path), "--init", tmp_path / "no", "--out", tmp_path / "x"
    )
    assert answer.status == 1 and "there is no such folder" in answer.err


def test_a_classifier_begins_from_one_of_other_labels(heedful, tmp_path: Path) -> None:
    few = [f"problem.{of}_examples={n}" for of, n in (("train", 30), ("valid", 2), ("test", 2))]
    small = ["model.dim=8", "model.hidden=4", "model.outer=8", "training.evaluate_every=0"]
    settings = [part for one in (*few, *small) for part in ("--set", one)]
    data = ["--steps", "1", "--data", tmp_path / "data", *settings]
    one, other = tmp_path / "one", tmp_path / "other"
    preset = ["--preset", "text_classifier_tiny", "--set", "problem.text.size=300"]
    answer = heedful("train", "demo_language", *preset, "--out", one, *data)
    assert answer.status == 0, answer.err
    answer = heedful("train", "demo_translated", "--init", one, "--out", other, *data)
    assert answer.status == 0, answer.err
    assert f"beginning from {one}" in answer.err and "1 of " in answer.err
    after = json.loads((other / "config.json").read_text())
    assert after["problem"]["fields"]["text"]["path"] == str(one / "vocab" / "text.json")
    labels = [json.loads((run / "vocab" / "labels.json").read_text()) for run in (one, other)]
    assert labels[0] != labels[1]

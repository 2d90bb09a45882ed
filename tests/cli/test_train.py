"""`train`: from names to a run folder, and on from there."""

import io
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heedful.runs.folder import RunFolder

from .conftest import PRESET, PROBLEM, SMALL_SETTINGS, STEPS

NEW = ["train", PROBLEM, "--preset", PRESET, *SMALL_SETTINGS]


def checkpoints(run: Path) -> list[str]:
    return sorted(path.name for path in (run / "checkpoints").iterdir() if path.is_dir())


def test_checkpoints_are_where_scripts_look_for_them(tiny_run: Path) -> None:
    assert checkpoints(tiny_run) == ["step-20", "step-40", "step-60"]
    assert all(
        list((tiny_run / "checkpoints" / name).glob("*.safetensors"))
        for name in checkpoints(tiny_run)
    )
    config = json.loads((tiny_run / "config.json").read_text())
    assert config["problem"]["name"] == PROBLEM and config["preset"] == PRESET
    assert (
        config["settings"]["training"]["steps"] == STEPS
        and config["settings"]["model"]["dim"] == 32
    )


def test_training_says_what_came_of_it_and_takes_a_seed(heedful, tmp_path: Path) -> None:
    answer = heedful(*NEW, "--out", tmp_path / "run", "--steps", "2", "--seed", "7")
    assert answer.status == 0
    assert answer.lines[0].startswith(f"{tmp_path / 'run'}: trained to step 2 in ")
    assert answer.lines[1].startswith("valid: loss ") and answer.lines[2].startswith("best: step-2")
    assert (
        json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["training"]["seed"]
        == 7
    )


def test_a_run_goes_on_with_only_its_folder_named(heedful, tiny_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    answer = heedful("train", "--out", run, "--resume", "--steps", "65")
    assert answer.status == 0 and "step-65" in checkpoints(run)
    assert "going on from step-60" in answer.err and "training.steps: 60 → 65" in answer.err
    named = heedful(*NEW, "--out", run, "--resume", "--steps", "66")
    assert named.status == 0 and "step-66" in checkpoints(run)


def test_a_changed_config_is_shown_and_refused(heedful, tiny_run: Path) -> None:
    answer = heedful("train", "--out", tiny_run, "--resume", "--set", "model.dropout=0.5")
    assert answer.status == 2 and "model.dropout: 0.1 → 0.5" in answer.err
    other = heedful("train", "algorithmic_identity_binary40", "--out", tiny_run, "--resume")
    assert other.status == 2 and "algorithmic_identity_binary40" in other.err


def test_a_run_is_not_overwritten(heedful, tiny_run: Path) -> None:
    answer = heedful(*NEW, "--out", tiny_run, "--steps", "1")
    assert answer.status == 2 and "already holds a run. Go on with it: --resume" in answer.err


def test_nothing_to_resume_is_said(heedful, tmp_path: Path) -> None:
    answer = heedful("train", "--out", tmp_path / "absent", "--resume")
    assert answer.status in (1, 2) and str(tmp_path / "absent") in answer.err


def test_a_folder_in_use_is_left_to_its_process(heedful, tiny_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    with RunFolder.open(run).locked():
        answer = heedful("train", "--out", run, "--resume", "--steps", "61")
    assert answer.status == 1 and f"{run} is in use" in answer.err
    assert checkpoints(run) == checkpoints(tiny_run)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["algorithmic_revers_binary40", "--preset", PRESET],
            "Close: algorithmic_reverse_binary40",
        ),
        ([PROBLEM, "--preset", "transformer_tny"], "Close: transformer_tiny"),
        (
            [PROBLEM, "--preset", PRESET, "--set", "model.dimm=3"],
            "has no field 'dimm'. Close: dim.",
        ),
        ([PROBLEM, "--preset", PRESET, "--set", "training.steps=soon"], "must be a whole number"),
        (
            [PROBLEM, "--preset", PRESET, "--set", "problem.train_size=1"],
            "has no field 'train_size'",
        ),
        ([PROBLEM, "--preset", PRESET, "--device", "abacus"], "no device is named 'abacus'"),
    ],
)
def test_what_cannot_be_trained_is_said_before_anything_is_made(
    heedful, tmp_path: Path, arguments: list[str], said: str
) -> None:
    answer = heedful("train", *arguments, "--out", tmp_path / "run")
    assert answer.status == 2 and said in answer.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_interactive_decodes_after_training(
    heedful, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 0 1\n1\n")))
    answer = heedful(*NEW, "--out", tmp_path / "run", "--steps", "1", "--interactive")
    assert answer.status == 0 and len(answer.lines) == 3 + 2


def test_an_interrupted_process_saves_and_exits_with_130(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "heedful", *NEW, "--out", str(run), "--steps", "100000"]
    settings = ["--set", "training.checkpoint_every=100000", "--set", "training.evaluate_every=0"]
    process = subprocess.Popen(
        [*command, *settings], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 90
        while not ((run / "log.jsonl").exists() and (run / "log.jsonl").stat().st_size):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "stopped at step" in err.splitlines()[-1] and "Traceback" not in err
    assert len(checkpoints(run)) == 1

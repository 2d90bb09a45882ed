"""`train` on your own files: every way to name them, and what is said of those that are wrong."""

import gzip
import json
import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PRESET, PROBLEM, SMALL_SETTINGS

WORDS = ["red", "blue", "green", "old", "new"]
ENGLISH = [f"{a} {b} {c}" for a in WORDS for b in WORDS for c in WORDS]
FRENCH = [line[::-1] for line in ENGLISH]
TINY = [*SMALL_SETTINGS[10:], "--set", "problem.text=characters", "--set", "problem.held_out=0.1"]
OWN = ["--preset", PRESET, *TINY]


def text_files(folder: Path, name: str = "a") -> list[str]:
    (folder / f"{name}.en").write_text("\n".join(ENGLISH) + "\n")
    (folder / f"{name}.fr").write_text("\n".join(FRENCH) + "\n")
    return ["--source", str(folder / f"{name}.en"), "--target", str(folder / f"{name}.fr")]


def config(run: Path) -> dict:
    return json.loads((run / "config.json").read_text())["problem"]


def test_two_text_files_are_enough(heedful, tmp_path: Path) -> None:
    run = tmp_path / "run"
    answer = heedful("train", *text_files(tmp_path), "--out", run, *OWN, "--steps", "2")
    assert answer.status == 0, answer.err
    assert config(run)["name"] == "own_files"
    (tmp_path / "in").write_text("red old ☃\n")
    decoded = heedful("decode", run, "-i", tmp_path / "in", "--strict")
    assert decoded.status == 0 and len(decoded.lines) == 1
    again = heedful("train", *text_files(tmp_path), "--out", run, "--resume", "--steps", "3")
    assert again.status == 0 and "trained to step 3" in again.out


def test_a_run_is_whole_without_its_data(heedful, tmp_path: Path) -> None:
    files, run, moved = tmp_path / "files", tmp_path / "run", tmp_path / "elsewhere" / "moved"
    files.mkdir()
    with gzip.open(files / "train.jsonl.gz", "wt", encoding="utf-8") as file:
        for source, target in zip(ENGLISH, FRENCH, strict=True):
            file.write(json.dumps({"translation": {"en": source, "fr": target}}) + "\n")
    (files / "valid.en.xz").write_bytes(lzma.compress(b"\xef\xbb\xbfold cat\r\n\r\nnew cat\r\n"))
    (files / "valid.fr").write_text("tac dlo\nx\ntac wen\n")
    command = ["--pairs", "train.jsonl.gz", "--fields", "translation.en,translation.fr"]
    command += ["--valid-source", "valid.en.xz", "--valid-target", "valid.fr"]
    done = subprocess.run(
        [sys.executable, "-m", "heedful", "train", *command, "--out", str(run)]
        + ["--data", str(tmp_path / "prepared"), *OWN, "--steps", "2", "--device", "cpu"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=files,
    )
    assert done.returncode == 0, done.stderr
    (info,) = (tmp_path / "prepared").glob("own_files-*/info.json")
    splits = json.loads(info.read_text())["splits"]
    assert splits["valid"]["examples"] == 2 and splits["valid"]["empty"] == 1
    assert 80 <= splits["train"]["examples"] < 125
    moved.parent.mkdir()
    run.rename(moved)
    shutil.rmtree(files)
    shutil.rmtree(tmp_path / "prepared")
    (tmp_path / "in.gz").write_bytes(gzip.compress(b"red old\n\nnew\n"))
    decoded = heedful("decode", moved, "-i", tmp_path / "in.gz", "-o", tmp_path / "out")
    assert decoded.status == 0, decoded.err
    assert len((tmp_path / "out").read_text().split("\n")) == 3 + 1


def test_several_files_and_names_with_commas(heedful, tmp_path: Path) -> None:
    run = tmp_path / "run"
    files = [*text_files(tmp_path, "a, b"), *text_files(tmp_path, "c")]
    (tmp_path / "t.tsv").write_text("old cat\ttac dlo\n")
    given = ["--test-pairs", str(tmp_path / "t.tsv"), "--pairs", str(tmp_path / "t.tsv")]
    answer = heedful("train", *files, *given, "--out", run, *OWN, "--steps", "1")
    assert answer.status == 0, answer.err
    fields = config(run)["fields"]
    assert fields["source"] == [str(tmp_path / "a, b.en"), str(tmp_path / "c.en")]
    assert fields["target"] == [str(tmp_path / "a, b.fr"), str(tmp_path / "c.fr")]
    assert fields["pairs"] == fields["test_pairs"] == [str(tmp_path / "t.tsv")]
    scored = heedful("evaluate", run, "--split", "test", "--json")
    assert scored.json()["examples"] == 1


def test_packed_files_can_be_scored(heedful, tmp_path: Path) -> None:
    (tmp_path / "h.gz").write_bytes(gzip.compress(b"un chat noir dort\n"))
    (tmp_path / "r.xz").write_bytes(lzma.compress(b"un chat noir dort\n"))
    answer = heedful("score", "--hyp", tmp_path / "h.gz", "--ref", tmp_path / "r.xz", "--json")
    assert answer.json()["metrics"]["exact_match"]["value"] == 100


def test_a_preset_is_taken_and_a_smaller_one_suggested(heedful, tmp_path: Path) -> None:
    files, run = text_files(tmp_path), tmp_path / "run"
    answer = heedful("train", *files, "--out", run, *TINY, "--steps", "1")
    assert answer.status == 0, answer.err
    assert json.loads((run / "config.json").read_text())["preset"] == "transformer_base_single_gpu"
    (word,) = [line for line in answer.err.splitlines() if "--preset" in line]
    assert word.startswith("125 pairs are few") and word.endswith("--preset transformer_small")
    named = heedful("train", *files, "--out", run, "--resume", "--steps", "2")
    assert named.status == 0 and "--preset" not in named.err


def test_many_pairs_need_no_smaller_preset(
    heedful, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.cli.own_files.FEW_PAIRS", 125)
    answer = heedful("train", *text_files(tmp_path), "--out", tmp_path / "r", *TINY, "--steps", "1")
    assert answer.status == 0 and "--preset" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source", "a.en"], "--target FILE is missing"),
        (["--target", "a.en"], "--source FILE is missing"),
        (["--pairs", "p.tsv", "--valid-source", "v"], "--valid-target FILE is missing"),
        (["--pairs", "p.tsv", "--test-target", "v"], "--test-source FILE is missing"),
        (
            ["--source", "a", "--source", "b", "--target", "c"],
            "--source names 2 files and --target 1: they come in pairs",
        ),
        ([PROBLEM, "--source", "a", "--target", "b"], "leave one of them out"),
        ([__file__, "--source", "a", "--target", "b"], "Each file has its own: --source a.en"),
        (["--valid-pairs", "v.tsv"], "own_files needs files to learn from"),
        (["--pairs", "p.tsv", "--fields", "en"], "--fields takes two"),
        (["--pairs", "p.tsv", "--field", "en"], "no option --field. Close: --fields"),
        (["--sorce", "a", "--target", "b"], "no option --sorce. Close: --source"),
        (["--pairs", "p.tsv", "--valid_source", "v"], "Close: --valid-source"),
        (["--pairs", "p.tsv", "--set", "problem.valid_surce=x"], "Close: valid_source"),
        (["--pairs", "p.tsv", "--set", "model.dim=oops"], "model.dim must be a whole number"),
        (["--pairs", "p.tsv", "--columns", "0,1"], "columns are counted from 1"),
    ],
)
def test_wrong_options_are_told_before_anything_is_made(
    heedful, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.tsv").write_text("a\tb\n")
    answer = heedful("train", *arguments, "--out", "run")
    assert answer.status == 2 and said in answer.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pairs", "absent.tsv"], "no file absent.tsv"),
        (["--pairs", "one.tsv"], "line 1 of one.tsv has 1 column"),
        (["--pairs", "p.tsv", "--fields", "en,fr"], "p.tsv has no column 'en'"),
        (["--pairs", "p.tsv", "--test-pairs", "nul.tsv"], "line 1 has a NUL byte"),
        (["--source", "p.tsv", "--target", "plain.gz"], "plain.gz is not gzip"),
    ],
)
def test_wrong_files_are_told_before_anything_is_made(
    heedful, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.tsv").write_text("a\tb\n")
    (tmp_path / "one.tsv").write_text("a\n")
    (tmp_path / "nul.tsv").write_text("a\tb\0\n")
    (tmp_path / "plain.gz").write_text("a\n")
    answer = heedful("train", *arguments, "--out", "run")
    assert answer.status == 1 and said in answer.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_files_that_part_are_named(heedful, tmp_path: Path) -> None:
    files = text_files(tmp_path)
    with open(tmp_path / "a.fr", "a") as file:
        file.write("one more\n")
    answer = heedful("train", *files, "--out", tmp_path / "run", *OWN, "--steps", "1")
    assert answer.status == 1 and "line 126 of" in answer.err.splitlines()[-1]

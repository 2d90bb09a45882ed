"""`doctor`: a report on the screen, as JSON and as a page."""

from pathlib import Path

import pytest

from heedful.cli import main
from heedful.cli.doctor import doctor

from .conftest import PRESET, PROBLEM, SMALL, SMALL_SETTINGS


@pytest.fixture(autouse=True)
def verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(main.VERBS, "doctor", doctor)


def own_files(folder: Path, swapped: bool = False) -> list[str]:
    """Options for two files with a validation pair, which may be the wrong way round."""
    words = [("cat", "Katze"), ("house", "Haus"), ("garden", "Garten"), ("which", "welche")]
    pairs = [
        (f"the {a[0]} {b[0]} {c[0]} {n}", f"zwischen {a[1]} {b[1]} {c[1]} {n}")
        for n in range(6)
        for a in words
        for b in words
        for c in words
    ]
    for name, part in {"train": pairs[30:], "valid": pairs[:30]}.items():
        sides = zip(*part, strict=True)
        for suffix, lines in zip(("en", "de"), sides, strict=True):
            (folder / f"{name}.{suffix}").write_text("\n".join(lines) + "\n")
    valid = ("de", "en") if swapped else ("en", "de")
    fields = {
        "source": "train.en",
        "target": "train.de",
        "valid_source": f"valid.{valid[0]}",
        "valid_target": f"valid.{valid[1]}",
    }
    changes = {f"problem.{name}": folder / file for name, file in fields.items()}
    changes |= {"problem.text.size": 300}
    changes |= {name: value for name, value in SMALL.items() if not name.startswith("problem.")}
    return ["own_files", *(x for k, v in changes.items() for x in ("--set", f"{k}={v}"))]


def test_a_problem_and_a_preset_are_reported_on_screen(heedful) -> None:
    answer = heedful("doctor", PROBLEM, "--preset", PRESET, *SMALL_SETTINGS, "--device", "cpu")
    assert answer.status == 0, answer.err
    assert answer.lines[0].startswith(f"{PROBLEM} with {PRESET}: ")
    for said in ("examples by split: train 2,000", "parameters, on cpu", "steps take about"):
        assert said in answer.out
    assert "training a few steps" in answer.err and "training a few steps" not in answer.out


def test_json_is_all_that_is_on_stdout(heedful) -> None:
    answer = heedful("doctor", PROBLEM, "--preset", PRESET, *SMALL_SETTINGS, "--json")
    report = answer.json()
    assert (report["problem"], report["preset"]) == (PROBLEM, PRESET)
    assert report["run"]["parameters"] > 0 and report["counts"]["problem"] == 0


def test_own_files_a_page_and_strictness(heedful, tmp_path: Path) -> None:
    page = tmp_path / "look.html"
    asked = ["--preset", PRESET, "--html", page, "--strict", "--data", tmp_path / "data"]
    answer = heedful("doctor", *own_files(tmp_path), *asked)
    assert answer.status == 0, answer.err
    assert page.read_text().startswith("<!doctype html>") and f"wrote {page}" in answer.err
    answer = heedful("doctor", *own_files(tmp_path, swapped=True), *asked)
    assert answer.status == 1 and "--strict asks for no problems" in answer.err
    assert "PROBLEM   inputs and targets of the split valid look swapped" in answer.out
    answer = heedful("doctor", *own_files(tmp_path, swapped=True), *asked[:2])
    assert answer.status == 0 and "look swapped" in answer.out


def test_source_and_target_are_the_problem(heedful, tmp_path: Path) -> None:
    _, *options = own_files(tmp_path)
    files = ["--source", tmp_path / "train.en", "--target", tmp_path / "train.de"]
    answer = heedful("doctor", *files, "--preset", PRESET, *options[8:], "--examples", "9")
    assert answer.status == 0, answer.err
    assert answer.lines[0].startswith("own_files with transformer_tiny")
    assert "--examples 0 reads all" in answer.lines[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--preset", PRESET], "no PROBLEM is named: give one"),
        ([PROBLEM], "no preset is named: give --preset NAME"),
        (["--source", "a"], "--target FILE is missing"),
        ([PROBLEM, "--source", "a", "--target", "b"], f"so '{PROBLEM}' cannot be"),
        ([PROBLEM, "--preset", "transformer_tin"], "Close: transformer_tiny"),
        ([PROBLEM, "--preset", PRESET, "--set", "model.dmi=3"], "dmi"),
    ],
)
def test_wrong_usage_is_one_line(heedful, arguments: list[str], said: str) -> None:
    answer = heedful("doctor", *arguments)
    assert answer.status == 2 and said in answer.err and len(answer.err.splitlines()) == 1


def test_a_page_that_cannot_be_written_is_one_line(heedful, tmp_path: Path) -> None:
    asked = ["--preset", PRESET, *SMALL_SETTINGS, "--html", tmp_path / "none" / "look.html"]
    answer = heedful("doctor", PROBLEM, *asked)
    assert answer.status == 1 and "cannot write" in answer.err.splitlines()[-1]


def test_files_that_are_missing_are_named(heedful, tmp_path: Path) -> None:
    files = ["--source", tmp_path / "none.en", "--target", tmp_path / "none.de"]
    answer = heedful("doctor", *files, "--preset", PRESET)
    assert answer.status == 1 and "none.en" in answer.err.splitlines()[-1]

"""`heedful export`: what it writes, what it says, what it refuses."""

import json
import sys
from pathlib import Path

import pytest

from heedful.interop import ctranslate2 as exporting

from .conftest import SMALL_SETTINGS, Heedful

LIBRARIES = {"huggingface": "transformers", "ctranslate2": "ctranslate2"}


@pytest.mark.parametrize("to", LIBRARIES)
def test_a_run_is_exported_and_compared(
    to: str, heedful: Heedful, tiny_run: Path, tmp_path
) -> None:
    pytest.importorskip(LIBRARIES[to])
    out = tmp_path / "deep" / "out"
    answer = heedful("export", tiny_run, "--to", to, "--out", out, "--json")
    assert answer.status == 0, answer.err
    said = answer.json()
    assert (said["folder"], said["tokenizer"]) == (str(out), False)
    assert said["checkpoint"]["name"] == "step-60" and 0 < said["difference"] < 1e-4
    assert "the vocabulary is of symbols" in answer.err and "without one" in answer.err
    assert {"config.json", "README.md"} <= {file.name for file in out.iterdir()}
    assert [path.name for path in out.parent.iterdir()] == ["out"]  # nothing is left beside it


def test_the_checkpoint_asked_for_is_exported(heedful: Heedful, tiny_run: Path, tmp_path) -> None:
    pytest.importorskip("ctranslate2")
    written = []
    for name in ("step-20", "step-40"):
        out = tmp_path / name
        out.mkdir()  # an empty folder is as good as none
        answer = heedful(
            "export", tiny_run, "--to", "ctranslate2", "--out", out, "--checkpoint", name
        )
        assert answer.status == 0 and f"TransformerSpec, from {name}." in answer.out
        written.append((out / "model.bin").read_bytes())
    assert written[0] != written[1]


def test_quantised_weights_are_fewer_bytes(heedful: Heedful, tiny_run: Path, tmp_path) -> None:
    pytest.importorskip("ctranslate2")
    for name, options in {"whole": [], "less": ["--quantize", "int8"]}.items():
        out = tmp_path / name
        assert (
            heedful("export", tiny_run, "--to", "ctranslate2", "--out", out, *options).status == 0
        )
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("less", "whole")]
    assert sizes[0] < 0.75 * sizes[1]


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        (["--to", "hugginface"], 2, "cannot export to 'hugginface'. Close: huggingface."),
        (["--to", "ctranslate2", "--quantize", "in8"], 2, "'in8'. Close: int8"),
        (["--to", "huggingface", "--quantize", "int8"], 2, "--quantize int8 is for ctranslate2"),
        (["--to", "ctranslate2", "--checkpoint", "step-7"], 1, "has no step-7"),
        ([], 2, "--to"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    options, status, reason, heedful: Heedful, tiny_run: Path, tmp_path
) -> None:
    for package in LIBRARIES.values():
        pytest.importorskip(package)
    answer = heedful("export", tiny_run, *options, "--out", tmp_path / "out")
    assert (answer.status, answer.out) == (status, "")
    assert reason in answer.err and len(answer.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_stays_as_it_is(heedful: Heedful, tiny_run, tmp_path) -> None:
    (tmp_path / "mine").write_text("keep")
    for out in (tmp_path, tmp_path / "mine"):
        answer = heedful("export", tiny_run, "--to", "ctranslate2", "--out", out)
        assert answer.status == 2 and "Choose another --out" in answer.err
    assert (tmp_path / "mine").read_text() == "keep"


def test_a_folder_that_is_no_run_is_refused(heedful: Heedful, tmp_path: Path) -> None:
    answer = heedful("export", tmp_path, "--to", "ctranslate2", "--out", tmp_path / "out")
    assert answer.status == 1 and "is not a run folder" in answer.err


def test_a_language_model_is_refused(heedful: Heedful, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    run = tmp_path / "lm"
    preset = ["--preset", "transformer_lm_tiny", "--steps", "1", "--out", run]
    assert heedful("train", "algorithmic_reverse_binary40", *preset, *SMALL_SETTINGS).status == 0
    answer = heedful("export", run, "--to", "ctranslate2", "--out", tmp_path / "out")
    assert answer.status == 1
    assert "kind 'transformer_lm' cannot be exported: what can is" in answer.err


def test_a_model_that_would_say_something_else_is_not_written(
    heedful: Heedful, tiny_run: Path, tmp_path: Path, monkeypatch
) -> None:
    pytest.importorskip("ctranslate2")
    monkeypatch.setattr(exporting, "EPSILON", 0.1)
    answer = heedful("export", tiny_run, "--to", "ctranslate2", "--out", tmp_path / "out")
    assert answer.status == 1 and "is not the same model" in answer.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", LIBRARIES)
def test_without_the_library_the_extra_is_named(
    to: str, heedful: Heedful, tiny_run: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setitem(sys.modules, LIBRARIES[to], None)
    answer = heedful("export", tiny_run, "--to", to, "--out", tmp_path / "out")
    assert answer.status == 2 and f"pip install 'heedful[{to}]'" in answer.err


def test_what_is_written_names_no_place_of_this_machine(heedful, tiny_run, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    out = tmp_path / "out"
    assert heedful("export", tiny_run, "--to", "huggingface", "--out", out).status == 0
    for file in out.glob("*.json"):
        assert str(tmp_path.parent) not in json.dumps(json.loads(file.read_text()))

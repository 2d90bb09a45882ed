"""`score`: two files, line by line."""

from pathlib import Path

import pytest


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    hyp, ref = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    hyp.write_text("the cat sat on the mat\na dog ran\n")
    ref.write_text("the cat sat on the mat\nthe dog ran\n")
    return hyp, ref


def test_the_metrics_are_those_of_evaluate(heedful, files: tuple[Path, Path]) -> None:
    hyp, ref = files
    answer = heedful("score", "--hyp", hyp, "--ref", ref, "--json")
    scored = answer.json()
    assert answer.status == 0 and scored["examples"] == 2
    assert set(scored["metrics"]) == {"bleu", "chrf", "exact_match"}
    assert "version:" in scored["metrics"]["bleu"]["signature"]
    assert scored["metrics"]["exact_match"] == {"value": 50.0}


def test_lines_have_value_and_signature(heedful, files: tuple[Path, Path]) -> None:
    answer = heedful(
        "score", "--hyp", files[0], "--ref", files[1], "--metrics", "bleu, exact_match"
    )
    assert answer.lines[0].startswith("bleu") and "nrefs:1" in answer.lines[0]
    assert answer.lines[1].split() == ["exact_match", "50.00"]


def test_the_first_line_where_files_part_is_named(heedful, files: tuple[Path, Path]) -> None:
    files[0].write_text("one line\n")
    answer = heedful("score", "--hyp", files[0], "--ref", files[1])
    assert answer.status == 1 and "line 2 of" in answer.err and answer.out == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is empty"), (b"a\nb\xff\n", "line 2"), (None, "no file")],
    ids=["empty", "not UTF-8", "missing"],
)
def test_a_file_that_cannot_be_read_is_named(
    heedful, files: tuple[Path, Path], content: bytes | None, said: str
) -> None:
    hyp, ref = files
    if content is None:
        hyp.unlink()
    else:
        hyp.write_bytes(content)
        ref.write_bytes(b"" if not content else b"a\nb\n")
    answer = heedful("score", "--hyp", hyp, "--ref", ref)
    assert answer.status == 1 and said in answer.err and str(hyp) in answer.err
    assert answer.err.count("\n") == 1


def test_a_folder_is_not_a_file(heedful, files: tuple[Path, Path], tmp_path: Path) -> None:
    answer = heedful("score", "--hyp", tmp_path, "--ref", files[1])
    assert answer.status == 1 and "is a folder" in answer.err


def test_a_metric_that_is_not_there_names_the_nearest(heedful, files: tuple[Path, Path]) -> None:
    answer = heedful("score", "--hyp", files[0], "--ref", files[1], "--metrics", "blue")
    assert answer.status == 2 and "no metric named 'blue'. Close: bleu." in answer.err

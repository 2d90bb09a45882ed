"""`score`: two files, line by line."""

import hashlib
from pathlib import Path

import pytest

from heedful.cli.metrics import comparison
from heedful.metrics.significance import Comparison


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


SCORES = "bleu,bleu_lowercase,chrf,chrf++,ter,rouge1,rouge2,rougeL,exact_match,token_accuracy"


@pytest.fixture
def second(files: tuple[Path, Path], tmp_path: Path) -> Path:
    path = tmp_path / "second.txt"
    path.write_text("a cat sat on the mat\nthe dog ran\n")
    return path


def test_a_script_is_told_which_files_were_scored(heedful, files: tuple[Path, Path]) -> None:
    hyp, ref = files
    scored = heedful("score", "--hyp", hyp, "--ref", ref, "--metrics", SCORES, "--json").json()
    digest = hashlib.sha256(hyp.read_bytes()).hexdigest()
    assert scored["hyp"] == {"file": str(hyp), "sha256": digest}
    assert [entry["file"] for entry in scored["ref"]] == [str(ref)]
    assert scored["lines"] == scored["examples"] == 2
    assert ",".join(scored["metrics"]) == SCORES


def test_several_references(heedful, files: tuple[Path, Path], tmp_path: Path) -> None:
    hyp, ref = files
    other = tmp_path / "other.txt"
    other.write_text("no cat\na dog ran\n")
    arguments = ["score", "--hyp", hyp, "--ref", ref, "--ref", other, "--metrics", SCORES]
    scored = heedful(*arguments, "--json").json()
    assert len(scored["ref"]) == 2
    assert scored["metrics"]["exact_match"]["value"] == 100.0
    assert scored["metrics"]["ter"]["value"] == 0.0
    assert scored["metrics"]["bleu"]["signature"].startswith("nrefs:2|")
    other.write_text("no cat\n")
    answer = heedful(*arguments)
    assert answer.status == 1 and f"{other} has 1" in answer.err


def test_bootstrap_gives_intervals(heedful, files: tuple[Path, Path]) -> None:
    hyp, ref = files
    arguments = ["score", "--hyp", hyp, "--ref", ref, "--bootstrap", "50", "--seed", "7"]
    scored = heedful(*arguments, "--json").json()
    for name, entry in scored["metrics"].items():
        assert set(entry["interval"]) == {"mean", "half", "samples", "seed"}, name
        assert entry["interval"]["samples"] == 50 and entry["interval"]["seed"] == 7
    found = scored["metrics"]["exact_match"]["interval"]
    line = heedful(*arguments).lines[2]
    assert line.split() == ["exact_match", "50.00", f"({found['mean']:.2f}", "±", "50.00)"]


def test_explain_shows_every_bleu_with_signature_and_sentence(
    heedful, files: tuple[Path, Path]
) -> None:
    hyp, ref = files
    hyp.write_text("The Cat's sat on the well-known mat.\nA dog ran\n")
    ref.write_text("the cat's sat on the well-known mat.\nthe dog ran\n")
    answer = heedful("score", "--hyp", hyp, "--ref", ref, "--explain")
    assert answer.status == 0
    for name in ("bleu", "bleu_lowercase", "bleu_compound", "bleu_multi30k", "bleu_tokenized"):
        place = next(i for i, line in enumerate(answer.lines) if line.split()[:1] == [name])
        assert "nrefs:1|" in answer.lines[place + 2]
    assert "by case" in answer.out and "by tokens, smoothing, compounds" in answer.out
    assert "    The Cat ' s sat on the well ##AT##-##AT## known mat ." in answer.lines
    found = heedful("score", "--hyp", hyp, "--ref", ref, "--explain", "--json").json()
    assert found["explain"][0]["value"] == found["metrics"]["bleu"]["value"]
    assert set(found["explain"][1]) == {
        "name",
        "value",
        "difference",
        "signature",
        "changes",
        "because",
        "tokens",
    }


def test_two_systems_side_by_side(heedful, files: tuple[Path, Path], second: Path) -> None:
    arguments = ["score", "--hyp", files[0], "--hyp-b", second, "--ref", files[1]]
    scored = heedful(*arguments, "--json").json()
    assert scored["hyp_b"]["file"] == str(second)
    assert set(scored["metrics_b"]) == set(scored["metrics"])
    assert scored["metrics_b"]["bleu"]["value"] < scored["metrics"]["bleu"]["value"]
    assert "paired" not in scored
    lines = heedful(*arguments).lines
    assert lines[0] == str(files[0]) and lines[4] == str(second)


def test_a_paired_test(heedful, files: tuple[Path, Path], second: Path) -> None:
    for path, lines in (files[0], 60), (files[1], 60), (second, 60):
        path.write_text(path.read_text() * lines)
    arguments = ["score", "--hyp", files[0], "--hyp-b", second, "--ref", files[1], "--paired"]
    arguments += ["--bootstrap", "50", "--trials", "60"]
    answer = heedful(*arguments, "--json")
    assert answer.err == ""
    scored = answer.json()
    found = scored["paired"]["bleu"]
    assert found["difference"] == pytest.approx(
        scored["metrics_b"]["bleu"]["value"] - scored["metrics"]["bleu"]["value"]
    )
    assert found["p_bootstrap"] < 0.05 and found["p_randomization"] < 0.05
    assert (found["samples"], found["trials"], found["seed"]) == (50, 60, 12345)
    text = heedful(*arguments).out
    assert text.split()[:3] == ["hyp.txt", "second.txt", "difference"]
    assert "bleu: chance alone would rarely part them so far (both p < 0.05)" in text
    assert "exact_match: no difference" in text
    assert "50 samples, 60 trials, seed 12345" in text


@pytest.mark.parametrize(("p", "q"), [(0.01, 0.2), (0.2, 0.01)])
def test_both_tests_must_agree_that_it_is_no_chance(p: float, q: float) -> None:
    found = Comparison({"value": 1.0}, {"value": 2.0}, 1.0, p, q, samples=50, trials=50, seed=1)
    assert "bleu: chance alone could part them so far (p up to 0.2)" in comparison(
        {"bleu": found}, ("a", "b")
    )


def test_a_paired_test_of_a_few_lines_is_warned_of(
    heedful, files: tuple[Path, Path], second: Path
) -> None:
    answer = heedful(
        *("score", "--hyp", files[0], "--hyp-b", second, "--ref", files[1], "--paired"),
        *("--trials", "50", "--metrics", "chrf,rouge1"),
    )
    assert "warning: 2 lines are few" in answer.err
    assert "rouge1: chance alone could part them so far (p up to" in answer.out


def test_text_that_looks_tokenised_is_warned_of(heedful, files: tuple[Path, Path]) -> None:
    hyp, ref = files
    hyp.write_text("it rains .\nit pours .\n")
    ref.write_text("it rains.\nit pours.\n")
    answer = heedful("score", "--hyp", hyp, "--ref", ref)
    assert answer.status == 0 and "as if tokenised" in answer.err and str(hyp) in answer.err
    assert heedful("score", "--hyp", hyp, "--ref", hyp).err == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--paired"], "name the second with --hyp-b"),
        (["--explain", "--hyp-b", "x"], "leave out --hyp-b"),
        (["--bootstrap", "10"], "give at least 40"),
        (["--bootstrap", "-1"], "--bootstrap"),
        (["--seed", "0"], "--seed"),
        (["--metrics", ","], "names no metric"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_asked_for(
    heedful, files: tuple[Path, Path], options: list[str], said: str
) -> None:
    answer = heedful("score", "--hyp", files[0], "--ref", files[1], *options)
    assert answer.status == 2 and said in answer.err and answer.out == ""
    assert answer.err.count("\n") == 1

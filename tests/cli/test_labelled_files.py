"""`train --text`: your own texts with labels, from the file to a label for a line."""

import json
import math
from pathlib import Path

import pytest

PRESET = ["--preset", "text_classifier_tiny", "--steps", "60", "--set", "problem.text=words"]
GOOD, BAD = ("fine", "great", "lovely", "superb"), ("dull", "awful", "poor", "stale")


def reviews(path: Path, header: bool = True) -> Path:
    rows = [
        f"{i}\tthe {what} was {a} and {b}\t{label}"
        for label, words in (("good", GOOD), ("bad", BAD))
        for i, (what, a, b) in enumerate(
            (what, a, b) for what in ("film", "play", "book") for a in words for b in words
        )
    ]
    head = ["id\treview\tstars"] if header else []
    path.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Path:
    from heedful.cli.main import run as run_command

    folder = tmp_path_factory.mktemp("labelled")
    files = ["--text", str(reviews(folder / "reviews.tsv"))]
    columns = ["--text-column", "review", "--label-column", "stars"]
    out = ["--out", str(folder / "run"), "--set", "problem.held_out=0.2"]
    assert run_command(["train", *files, *columns, *PRESET, *out]) == 0
    return folder / "run"


def test_a_table_of_texts_and_labels_is_learnt(heedful, run: Path, tmp_path: Path) -> None:
    problem = json.loads((run / "config.json").read_text())["problem"]
    assert problem["name"] == "labelled_files" and problem["fields"]["columns"] == ["review"]
    found = heedful("evaluate", run, "--split", "test", "--json").json()["metrics"]
    assert found["accuracy"]["value"] == 100.0 and found["matthews"]["value"] == 100.0
    (tmp_path / "in").write_text("the film was great\nthe book was stale\n\n")
    decoded = heedful("decode", run, "-i", tmp_path / "in", "--scores")
    (good, p), (bad, q), nothing = (line.split("\t") for line in decoded.lines)
    assert (good, bad, nothing) == ("good", "bad", ["", ""])
    assert -0.7 < float(p) <= 0 and -0.7 < float(q) <= 0  # log-probabilities of over a half


def test_all_labels_can_be_asked_for(heedful, run: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("the film was great\n")
    answer = heedful("decode", run, "-i", tmp_path / "in", "--beam", "2", "--nbest", "2", "--jsonl")
    found = json.loads(answer.out)["hypotheses"]
    assert [one["text"] for one in found] == ["good", "bad"]
    assert sum(math.exp(one["score"]) for one in found) == pytest.approx(1.0, abs=1e-4)


def test_without_a_preset_one_is_chosen_by_the_columns(heedful, tmp_path: Path) -> None:
    table = reviews(tmp_path / "a.tsv", header=False)
    small = ["--set", "model.dim=8", "--set", "model.hidden=8", "--steps", "1"]
    small += ["--set", "problem.held_out=0.2", "--set", "problem.text=words"]
    for columns, preset in (("2", "text_classifier_base"), ("1,2", "pair_classifier_base")):
        out = tmp_path / preset
        given = ["--text", table, "--text-column", columns, "--label-column", "3"]
        answer = heedful("train", *given, "--out", out, *small)
        assert answer.status == 0, answer.err
        assert json.loads((out / "config.json").read_text())["preset"] == preset


def test_what_is_wrong_is_said_in_a_line(heedful, tmp_path: Path) -> None:
    table = str(reviews(tmp_path / "a.tsv"))
    out = ["--out", str(tmp_path / "run"), *PRESET]
    for given, status, says in [
        (["--text", table, "--label-column", "star"], 1, "no column 'star' in its first line"),
        (["--text", table, "--source", "a", "--target", "b"], 2, "leave one of them out"),
        (["glue_sst2", "--text", table], 2, "'glue_sst2' cannot be"),
        (["--label-column", "2"], 2, "--text FILE is missing"),
        (["--text", str(tmp_path / "none.tsv")], 1, "no file"),
    ]:
        answer = heedful("train", *given, *out)
        assert answer.status == status and says in answer.err, answer.err
        assert not (tmp_path / "run").exists()


def test_a_classifier_begins_from_a_language_model(heedful, tmp_path: Path) -> None:
    table, text = reviews(tmp_path / "a.tsv"), tmp_path / "text.txt"
    text.write_text("\n".join(line.split("\t")[1] for line in table.read_text().splitlines()[1:]))
    lm, run = tmp_path / "lm", tmp_path / "run"
    tiny = ["--set", "model.dim=8", "--set", "model.hidden=8", "--steps", "2"]
    made = heedful(
        *("train", "own_text", "--preset", "elmo_tiny", "--out", lm, *tiny),
        *("--set", f"problem.train={text}", "--set", "problem.piece=8"),
        *("--set", "problem.held_out=0.2"),
    )
    assert made.status == 0, made.err
    given = ["--text", table, "--text-column", "review", "--label-column", "stars", "--init", lm]
    out = ["--out", run, "--set", "problem.held_out=0.2", *tiny]
    answer = heedful("train", *given, *out)
    assert answer.status == 0, answer.err
    config = json.loads((run / "config.json").read_text())
    assert config["preset"] == "elmo_classifier"
    assert config["problem"]["fields"]["text"]["kind"] == "vocabulary"
    assert "tensors begin anew" in answer.err
    assert config["settings"]["model"]["features"]["hidden"] == 8
    other = ["--set", "model.features.dim=16", "--set", "problem.held_out=0.2"]
    wrong = heedful("train", *given, *other, "--out", tmp_path / "wrong")
    assert wrong.status == 2 and "'inputs.lm.weight' is" in wrong.err
    assert "numbers of that run" in wrong.err

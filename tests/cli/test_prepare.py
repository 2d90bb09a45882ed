"""`prepare`: data made once."""

from pathlib import Path

from heedful.cli.progress import Progress

PROBLEM = "algorithmic_reverse_binary40"
FEW = [
    part
    for name in ("train_examples=30", "valid_examples=5", "test_examples=5", "eval_length=50")
    for part in ("--set", f"problem.{name}")
]


def test_prepared_data_is_described_in_json(heedful, tmp_path: Path) -> None:
    answer = heedful("prepare", PROBLEM, "--data", tmp_path, *FEW, "--json")
    info = answer.json()
    assert answer.status == 0 and info["problem"] == PROBLEM
    assert Path(info["folder"]).parent == tmp_path and Path(info["folder"]).is_dir()
    assert info["splits"]["train"]["examples"] == 30 and info["vocabularies"] == {"shared": 5}


def test_prepared_data_is_described_to_a_person_and_made_once(heedful, tmp_path: Path) -> None:
    first = heedful("prepare", PROBLEM, "--data", tmp_path, *FEW)
    assert "vocabulary 'shared': 5 ids" in first.out and "writing the train split" in first.err
    again = heedful("prepare", PROBLEM, "--data", tmp_path, *FEW)
    assert again.out == first.out and again.err == ""


def test_without_data_the_folder_comes_from_the_environment(heedful, data_folder: Path) -> None:
    answer = heedful("prepare", PROBLEM, *FEW, "--json")
    assert Path(answer.json()["folder"]).parent == data_folder


def test_an_unknown_problem_names_the_nearest(heedful) -> None:
    answer = heedful("prepare", "algorithmic_revers_binary40")
    assert answer.status == 2 and f"Close: {PROBLEM}" in answer.err


def test_only_fields_of_the_problem_can_be_set(heedful) -> None:
    answer = heedful("prepare", PROBLEM, "--set", "model.dim=4")
    assert answer.status == 2 and "cannot set 'model.dim' here" in answer.err
    answer = heedful("prepare", PROBLEM, "--set", "problem.train_exmples=4")
    assert answer.status == 2 and "Close: train_examples" in answer.err


def test_a_folder_that_cannot_be_written_is_one_line(heedful, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = heedful("prepare", PROBLEM, "--data", tmp_path / "file" / "below", *FEW)
    assert answer.status == 1 and answer.err.splitlines()[-1].startswith("error: ")


def test_progress_on_a_terminal_is_one_line_that_changes(capsys, monkeypatch) -> None:
    progress = Progress()
    progress.live = True
    progress(0, "reading")
    progress(1, "reading")  # too soon to say again
    progress(2, "writing")
    progress.end()
    assert capsys.readouterr().err == "\r\x1b[Kreading: 0\n\x1b[Kwriting: 2\n"
    monkeypatch.setenv("RANK", "1")
    progress(3, "sorting")
    assert capsys.readouterr().err == ""

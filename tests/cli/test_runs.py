"""`evaluate` and `average`, and folders that are not what they should be."""

import json
import shutil
from pathlib import Path

import pytest

from .conftest import PROBLEM


def test_an_evaluation_is_json_as_scripts_know_it(heedful, tiny_run: Path) -> None:
    answer = heedful("evaluate", tiny_run, "--split", "test", "--json")
    result = answer.json()
    assert answer.status == 0
    assert set(result) >= {"problem", "split", "checkpoint", "examples", "metrics", "seed"}
    assert (result["problem"], result["split"], result["examples"]) == (PROBLEM, "test", 20)
    assert (
        result["checkpoint"]["name"].startswith("step-")
        and len(result["checkpoint"]["sha256"]) == 64
    )
    assert all("value" in entry for entry in result["metrics"].values())
    assert {"exact_match", "token_accuracy"} <= set(result["metrics"])


def test_an_evaluation_in_lines_has_all_that_makes_it_citable(heedful, tiny_run: Path) -> None:
    options = ["--split", "test_long", "--checkpoint", "step-40", "--beam", "2", "--examples", "3"]
    answer = heedful("evaluate", tiny_run, *options)
    assert answer.lines[0] == f"{tiny_run}: {PROBLEM}, split test_long, 3 examples"
    assert answer.lines[-1].startswith("checkpoint step-40, sha256 ")
    assert answer.lines[-1].endswith(", seed 1, beam 2, alpha 0.6")
    assert heedful("evaluate", tiny_run, "--greedy", "--examples", "1").lines[-1].endswith("greedy")


def test_how_to_search_changes_only_the_evaluation(heedful, tiny_run: Path) -> None:
    answer = heedful(
        "evaluate", tiny_run, "--set", "decode.beam=3", "--alpha", "1", "--examples", "1", "--json"
    )
    assert (answer.json()["decode"]["beam"], answer.json()["decode"]["alpha"]) == (3, 1.0)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--split", "tset"], 2, "no split 'tset'"),
        (["--checkpoint", "step-7"], 1, "has no step-7. It has: step-20, step-40, step-60"),
        (["--checkpoint", "newest"], 2, "ask for latest, best, average or step-N"),
        (["--checkpoint", "average"], 1, "heedful average RUN --last 5"),
    ],
)
def test_what_a_run_does_not_have_is_said(
    heedful, tiny_run: Path, arguments: list[str], status: int, said: str
) -> None:
    answer = heedful("evaluate", tiny_run, *arguments)
    assert answer.status == status and said in answer.err.splitlines()[-1] and answer.out == ""


def test_an_average_can_be_made_scored_and_decoded_with(
    heedful, tiny_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    answer = heedful("average", run, "--last", "3")
    assert answer.lines == [f"{run}/checkpoints/average: the mean of step-20, step-40, step-60"]
    again = heedful("average", run, "--steps", "20,step-60", "--json").json()
    assert again["steps"] == [20, 60] and len(again["sha256"]) == 64
    scored = heedful("evaluate", run, "--checkpoint", "average", "--examples", "1", "--json").json()
    assert scored["checkpoint"]["name"] == "average"
    assert scored["checkpoint"]["sha256"] == again["sha256"]


def test_an_average_of_what_is_not_there_is_refused(heedful, tiny_run: Path) -> None:
    many = heedful("average", tiny_run, "--last", "9")
    assert many.status == 1 and "has 3 checkpoints, fewer than the last 9" in many.err
    absent = heedful("average", tiny_run, "--steps", "20,21")
    assert absent.status == 1 and "has no step-21" in absent.err


COMMANDS = [("decode",), ("evaluate",), ("average", "--last", "1"), ("train", "--resume", "--out")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_that_is_not_a_run_is_named(
    heedful, tmp_path: Path, command: tuple[str, ...]
) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        answer = heedful(*command, folder)
        assert answer.status in (1, 2) and answer.err.startswith("error: ")
        assert str(folder) in answer.err and answer.err.count("\n") == 1


@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0] != "average"], ids=" ".join)
def test_a_run_of_a_newer_version_asks_for_an_upgrade(
    heedful, tiny_run: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "format": 99, "heedful": "9.0"}))
    answer = heedful(*command, run)
    assert (
        answer.status == 1
        and "written by heedful 9.0, format 99" in answer.err
        and "upgrade" in answer.err
    )


def test_a_torn_config_is_named(heedful, tiny_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    (run / "config.json").write_text('{"format": 1, ')
    answer = heedful("decode", run)
    assert answer.status == 1 and "config.json" in answer.err and "torn" in answer.err

"""`reproduce`: a claim by its name, all of them, and the page of results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.claims.base import claims

CLAIM = "transformer_reverse"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_claim_is_tried_and_told(heedful, here: Path) -> None:
    answer = heedful("reproduce", CLAIM, "--budget", "smoke", "--device", "cpu")
    assert answer.status == 0, answer.err
    told = dict(line.split(maxsplit=1) for line in answer.lines)
    assert set(told) == {"claim", "paper", "baseline", "ours", "reached", "why", "record"}
    assert told["claim"] == CLAIM and told["reached"] == "not measured"
    assert told["record"] == f"results/smoke/{CLAIM}.json"
    assert (here / told["record"]).exists() and not (here / "runs").exists()


def test_json_is_the_record(heedful, here: Path) -> None:
    answer = heedful("reproduce", CLAIM, "--budget", "smoke", "--json", "--out", "elsewhere")
    assert answer.status == 0, answer.err
    written = json.loads((here / "elsewhere" / "smoke" / f"{CLAIM}.json").read_text())
    assert answer.json()["claim"] == CLAIM and answer.json().keys() == written.keys()


def test_all_claims_can_be_asked_for_at_once(heedful, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "names", lambda *_: [CLAIM])
    answer = heedful("reproduce", "--all", "--budget", "smoke", "--json", "--seeds", "4,5")
    assert answer.status == 0, answer.err
    assert [record["claim"] for record in answer.json()] == [CLAIM]
    assert "--seeds 4,5" in answer.json()[0]["command"]


def test_some_arms_can_be_asked_for_and_leave_no_record(heedful, here: Path) -> None:
    asked = ("reproduce", CLAIM, "--budget", "smoke", "--only", "transformer")
    answer = heedful(*asked)
    assert answer.status == 0, answer.err
    told = dict(line.split() for line in answer.lines)
    assert told["transformer/exact_match"] and not (here / "results").exists()
    measured = heedful(*asked, "--json").json()
    assert measured["claim"] == CLAIM and measured["only"] == ["transformer"]
    assert measured["measured"].keys() == told.keys()


PLUGIN = """
from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Claim, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast

SIZES = {"problem.train_examples": 40, "problem.train_length": 6, "problem.eval_length": 8,
    "problem.valid_examples": 2, "problem.test_examples": 3, "model.dim": 16, "model.ff": 32,
    "model.heads": 2, "model.layers": 1, "batch.tokens": 256}

def made(name):
    arms = tuple(
        Arm(name=arm, problem="algorithmic_reverse_binary40", preset="transformer_algorithmic_tiny",
            settings=SIZES, readings=(Reading(metrics=("exact_match",), checkpoint="latest"),))
        for arm in ("ours", "theirs"))
    paper = Paper(authors="A", title="T", venue="V", url="http://e.org", where="1", figure="2")
    return Claim(name=name, system="s", paper=paper, statement="s", task="t", cost="seconds",
        targets=(AtLeast("ours/exact_match", 0.0),),
        measure=Trainings(arms=arms, budget=Budget(steps=4), seeds=(1,), small=Small(settings={})))

for name in ("quick_one", "quick_two"):
    claims.register(name)(lambda name=name: made(name))
"""


def test_claims_are_measured_by_several_processes(here: Path, monkeypatch) -> None:
    (here / "quick_claims.py").write_text(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(here), prepend=os.pathsep)
    asked = ["reproduce", "quick_one", "quick_two", "--jobs", "2", "--device", "cpu"]
    answer = subprocess.run(
        [sys.executable, "-m", "heedful", *asked, "--plugin", "quick_claims"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("reached   reached") == 2
    assert "quick_one/ours-seed1: done in" in answer.stderr and "6 of 6" in answer.stderr
    for name in ("quick_one", "quick_two"):
        assert json.loads((here / "results" / f"{name}.json").read_text())["reached"] is True
        for arm in ("ours-seed1", "theirs-seed1"):
            assert (here / "runs" / "reproduce" / name / arm / "config.json").exists()
            assert "exact_match" in (here / "runs" / "reproduce" / name / f"{arm}.log").read_text()


def test_the_page_of_results_is_written_beside_the_records(heedful, here: Path) -> None:
    answer = heedful("reproduce", "--write-results")
    assert answer.status == 0 and answer.out == "" and "wrote RESULTS.md" in answer.err
    assert "No claim has been measured yet." in (here / "RESULTS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["transformer_revers"], "no claim named 'transformer_revers'. Close: transformer_reverse"),
        ([], "reproduce takes a CLAIM"),
        ([CLAIM, "--all"], "reproduce takes a CLAIM"),
        ([CLAIM, "--seeds", "one"], "--seeds takes numbers"),
        ([CLAIM, "--budget", "huge"], "'huge' is not one of"),
        ([CLAIM, "--only", "transforme"], "has no arm named 'transforme'. Close: transformer."),
        ([CLAIM, "--only", ","], "--only takes arms of one CLAIM"),
        (["--all", "--only", "ours"], "--only takes arms of one CLAIM"),
        ([CLAIM, "gnmt_depth", "--only", "ours"], "--only takes arms of one CLAIM"),
        ([CLAIM, "--jobs", "2", "--only", "transformer"], "--jobs goes with whole claims"),
        ([CLAIM, "--jobs", "2", "--budget", "smoke"], "--jobs goes with whole claims"),
        ([CLAIM, "--jobs", "0"], "invalid value for '--jobs'"),
    ],
)
def test_wrong_usage_is_said_in_a_line(heedful, arguments: list[str], said: str) -> None:
    answer = heedful("reproduce", *arguments)
    assert answer.status == 2 and said in answer.err and len(answer.err.splitlines()) == 1


def test_help_has_an_example(heedful) -> None:
    assert "heedful reproduce transformer_reverse" in heedful("reproduce", "--help").out

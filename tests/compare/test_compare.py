"""Presets side by side: the same data, the same budget, and a page that shows it."""

import json

import pytest
import torch

import heedful.cli.main as main
from heedful.claims.arms import Arm
from heedful.cli.compare import compare
from heedful.compare.contest import Contest, _config
from heedful.compare.spending import Spending
from heedful.errors import UsageError

PROBLEM = "algorithmic_identity_binary40"
SMALL = {
    "problem.train_examples": "120",
    "problem.valid_examples": "3",
    "problem.test_examples": "4",
    "problem.train_length": "6",
    "problem.eval_length": "6",
    "model.dim": "16",
    "model.heads": "2",
    "model.ff": "16",
    "model.layers": "1",
    "batch": "bucketed",
    "batch.tokens": "128",
    "decode.beam": "1",
    "training.log_every": "2",
    "training.evaluate_every": "2",
    "training.evaluate_examples": "2",
}
SETTINGS = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]


@pytest.fixture
def heedful(monkeypatch, capsys):
    monkeypatch.setitem(main.VERBS, "compare", compare)

    def run(*arguments):
        status = main.run(["compare", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_presets_are_trained_scored_and_shown_and_used_again(heedful, tmp_path) -> None:
    asked = [PROBLEM, "--presets", "transformer_tiny,transformer_lm_tiny", "--seeds", "1,2",
             "--budget", "steps:4", "--out", tmp_path / "out", "--data", tmp_path / "data",
             *SETTINGS, "--json"]  # fmt: skip
    status, out, err = heedful(*asked)
    assert status == 0, err
    report = json.loads(out)
    assert [row["preset"] for row in report["rows"]] == ["transformer_tiny", "transformer_lm_tiny"]
    for row in report["rows"]:
        assert row["steps"] == 4 and row["parameters"] > 0
        assert set(row["metrics"]["exact_match"]["by_seed"]) == {"1", "2"}
    assert len(report["samples"]) == 4 and set(report["samples"][0]["outputs"]) == {
        "transformer_tiny",
        "transformer_lm_tiny",
    }
    assert json.loads((tmp_path / "out" / "compare.json").read_text()) == report
    page = (tmp_path / "out" / "report.html").read_text()
    assert "transformer_lm_tiny-seed2" in page and "<polyline" in page

    status, out, err = heedful(*asked)
    assert status == 0 and err.count("is trained already and is used") == 4
    assert json.loads(out)["rows"][0]["metrics"]["loss"] == report["rows"][0]["metrics"]["loss"]


def test_a_table_is_said_without_json(heedful, tmp_path) -> None:
    status, out, err = heedful(
        PROBLEM, "--presets", "transformer_tiny", "--budget", "steps:2", "--out", tmp_path / "out",
        "--data", tmp_path / "data", *SETTINGS,
    )  # fmt: skip
    assert status == 0 and out.startswith("preset") and "report.html" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--presets", "transformer_tin"], "Close: transformer_tiny"),
        (["--presets", "transformer_tiny,transformer_tiny"], "each once"),
        (["--presets", "transformer_tiny", "--seeds", "one"], "--seeds takes numbers"),
        (["--presets", "transformer_tiny", "--seeds", ","], "at least one seed"),
        (["--presets", "transformer_tiny", "--budget", "step:3"], "Close: steps"),
        (["--presets", "transformer_tiny", "--budget", "steps:many"], "1 or more"),
        (["--presets", "transformer_tiny", "--budget", "tokens:-5"], "1 or more"),
    ],
)
def test_what_cannot_be_compared_is_said_before_anything_is_trained(
    heedful, tmp_path, arguments, says
) -> None:
    status, _, err = heedful(PROBLEM, "--out", tmp_path / "out", *arguments)
    assert status == 2 and says in err and not (tmp_path / "out").exists()


def test_budgets_buy_steps(tmp_path) -> None:
    contest = Contest(problem=PROBLEM, presets=("transformer_tiny",), settings=SMALL)
    arm = Arm(name="x", problem=PROBLEM, preset="transformer_tiny", settings=SMALL)
    config = _config(arm, contest)

    def bought(text: str):
        return Spending.parse(text).buys(config, tmp_path, torch.device("cpu"))

    assert bought("steps:1_000").steps == 1_000
    assert bought("tokens:1280").spent_on(config.preset).training.steps == 10
    assert bought("seconds:3").steps > 1
    assert bought("flops:1e10").steps == pytest.approx(10 * bought("flops:1e9").steps, rel=0.1)


def test_a_budget_reads_as_it_is_written() -> None:
    assert str(Spending.parse("tokens:5e6")) == "tokens:5e+06"
    with pytest.raises(UsageError, match="steps:N"):
        Spending.parse("1000")

"""Learning itself, from a fixed seed: a tiny model comes to follow a rule without a mistake."""

from pathlib import Path

from heedful.registry import presets, problems
from heedful.runs.config import RunConfig
from heedful.training.evaluation import evaluate
from heedful.training.trainer import train
from heedful.training.watchers import Watchers

PROBLEM, PRESET = "algorithmic_reverse_binary40", "transformer_algorithmic_tiny"


def test_reversing_forty_bits_is_learnt_without_a_mistake(tmp_path: Path) -> None:
    config = RunConfig(
        problem_name=PROBLEM,
        problem=problems.get(PROBLEM)(),
        preset_name=PRESET,
        preset=presets.get(PRESET)(),
    )
    train(config, tmp_path / "run", tmp_path / "data", device="cpu", watch=lambda *_: Watchers())
    report = evaluate(tmp_path / "run", tmp_path / "data", checkpoint="latest", device="cpu")
    assert report["split"] == "test" and report["examples"] == 1_000
    assert report["metrics"]["exact_match"]["value"] == 100.0

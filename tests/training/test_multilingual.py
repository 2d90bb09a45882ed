"""That a tag decides: the same letters, copied for one language and turned round for the other."""

from itertools import product
from pathlib import Path

import heedful
from heedful.config import vary
from heedful.problems.multilingual_files import MultilingualFiles
from heedful.registry import presets
from heedful.runs.config import RunConfig
from heedful.text.chars import Characters
from heedful.training.evaluation import evaluate
from heedful.training.trainer import train
from heedful.training.watchers import Watchers

PRESET = "transformer_algorithmic_tiny"
SMALL = {
    "model.dim": 32,
    "model.ff": 64,
    "model.layers": 1,
    "batch": "bucketed",
    "batch.tokens": 400,
    "batch.temperature": 5.0,
    "training.steps": 250,
    "training.checkpoint_every": 0,
}
WORDS = ["".join(letters) for letters in product("abcdefg", repeat=3)]


def test_the_tag_decides_what_is_written(tmp_path: Path) -> None:
    for name, lines in {
        "a.in": WORDS,
        "a.same": WORDS,
        "b.in": WORDS[::2],
        "b.back": [word[::-1] for word in WORDS[::2]],
    }.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    problem = MultilingualFiles(
        source=(str(tmp_path / "a.in"), str(tmp_path / "b.in")),
        target=(str(tmp_path / "a.same"), str(tmp_path / "b.back")),
        to=("same", "back"),
        text=Characters(),
        held_out=0.1,
    )
    config = RunConfig(
        problem_name="multilingual_files",
        problem=problem,
        preset_name=PRESET,
        preset=vary(presets.get(PRESET)(), SMALL),
    )
    run, data = tmp_path / "run", tmp_path / "data"
    train(config, run, data, device="cpu", watch=lambda *_: Watchers())
    for split in ("test", "test_same", "test_back"):
        report = evaluate(run, data, split=split, device="cpu")
        assert report["metrics"]["exact_match"]["value"] > 90, split
    model = heedful.load(run, device="cpu")
    assert model.translate(["abc", "eeg"], to="same") == ["abc", "eeg"]
    assert model.translate(["abc", "eeg"], to="back") == ["cba", "gee"]

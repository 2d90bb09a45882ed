"""The run folder and its config: what is wrong with one is said in a line."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.config import vary
from heedful.errors import HeedfulError, UsageError
from heedful.registry import presets, problems
from heedful.runs.config import FREE, RunConfig, read_config
from heedful.runs.folder import RunFolder


def config(**changes):
    return RunConfig(
        problem_name="algorithmic_reverse_binary40",
        problem=problems.get("algorithmic_reverse_binary40")(),
        preset_name="transformer_tiny",
        preset=vary(presets.get("transformer_tiny")(), changes),
    )


def test_a_config_is_read_back_as_it_was(tmp_path):
    written = config(**{"model.dim": 32, "schedule": "cosine", "training.ema": 0.99})
    written = RunConfig(
        problem_name=written.problem_name, problem=vary(written.problem, {"train_length": 7}),
        preset_name="transformer_tiny", preset=written.preset,
    )  # fmt: skip
    RunFolder(tmp_path).write_config(written)
    assert read_config(tmp_path) == written
    data = json.loads((tmp_path / "config.json").read_text())
    assert data["format"] == 1 and data["problem"]["fields"]["train_length"] == 7
    assert set(data) == {"format", "heedful", "problem", "preset", "settings"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"format": 1, "prob', "is torn or not JSON"),
        ("[]", "names no format"),
        ('{"format": "one"}', "names no format"),
        (
            '{"format": 2, "heedful": "9.9"}',
            "written by heedful 9.9, format 2; this one reads up to 1: upgrade",
        ),
        ('{"format": 1, "problem": {}}', "lacks preset, settings"),
        (
            '{"format": 1, "problem": {"name": "nope"}, "preset": "p", "settings": {}}',
            "no problem named 'nope'",
        ),
        ('{"format": 1, "problem": {}, "preset": "p", "settings": {}}', "problem has no name"),
    ],
    ids=["torn", "list", "format no number", "newer", "incomplete", "unknown problem", "nameless"],
)
def test_a_config_that_cannot_be_read_says_why(tmp_path, content, said):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(HeedfulError, match=said):
        read_config(tmp_path)


def test_a_folder_that_is_no_run_is_said(tmp_path):
    with pytest.raises(HeedfulError, match="there is no such folder"):
        RunFolder.open(tmp_path / "nowhere")
    with pytest.raises(HeedfulError, match="not a run folder: it has no config.json"):
        RunFolder.open(tmp_path)
    with pytest.raises(HeedfulError, match="cannot read"):
        read_config(tmp_path)
    with pytest.raises(HeedfulError, match="the run is incomplete"):
        RunFolder(tmp_path).tokenizers()
    with pytest.raises(HeedfulError, match=r"data\.json"):
        RunFolder(tmp_path).data()


def test_a_run_is_not_begun_among_other_files(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match=r"not empty \(thesis.tex\) and not a run"):
        RunFolder.create(tmp_path)
    with pytest.raises(HeedfulError, match="cannot make a run folder"):
        RunFolder.create(tmp_path / "thesis.tex" / "run")


def test_what_cannot_be_written_is_said(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for write in (
        lambda: folder.write_config(config()),
        lambda: folder.write_data({"prepared": "x"}),
        lambda: folder.write_vocabularies(config(), lambda name: Saved()),
    ):
        with pytest.raises(HeedfulError, match="No space left"):
            write()


class Saved:
    def save(self, path):
        path.write_text("{}")


def test_a_folder_in_use_says_by_whom(tmp_path):
    script = (
        "import sys; from pathlib import Path; from heedful.runs.folder import RunFolder\n"
        "from heedful.errors import HeedfulError\n"
        "try:\n"
        "    with RunFolder(Path(sys.argv[1])).locked(): print('held')\n"
        "except HeedfulError as error: print(error)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with RunFolder(tmp_path).locked():
        said = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout
    assert f"process {os.getpid()} is training there" in said
    with RunFolder(tmp_path).locked():
        pass  # free again


def test_what_differs_is_parted_into_what_may_and_what_may_not():
    free, bound = config().changes(config(**{"training.steps": 7, "model.dim": 64}))
    assert [line.partition(":")[0] for line in free] == ["training.steps"]
    assert [line.partition(":")[0] for line in bound] == ["model.dim"]
    assert config().changes(config()) == ([], [])


@given(st.sampled_from(sorted(FREE)))
def test_free_fields_exist(path):
    name = path.removeprefix("training.")
    assert hasattr(config().preset.training, name)

"""Checkpoints: whole or not there, damage named, retention as asked."""

import json
import os
import shutil

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import HeedfulError, UsageError
from heedful.runs import durable
from heedful.runs.checkpoints import MODEL, OPTIM, Checkpoints, Damaged
from heedful.runs.retention import Kept, doomed


@pytest.fixture
def three(tmp_path):
    """A run with checkpoints after steps 9, 10 and 100."""
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    for step in (100, 9, 10):
        tensors = {MODEL: {"w": torch.full((4,), float(step))}, OPTIM: {"w/m": torch.zeros(4)}}
        checkpoints.write(f"step-{step}", tensors, {"step": step})
    return checkpoints


def silent(text):
    pass


def test_what_was_written_is_read_and_names_sort_by_number(three):
    assert [c.name for c in three.steps()] == ["step-9", "step-10", "step-100"]
    newest = three.newest(silent)
    assert newest.step == 100
    assert newest.tensors(MODEL)["w"].tolist() == [100.0] * 4
    assert newest.state() == {"step": 100}
    assert newest.sha256(MODEL) == durable.sha256(newest.path / "model.safetensors")
    assert not newest.has("ema")


def torn(path):
    with open(path / "model.safetensors", "r+b") as file:
        file.truncate(20)


def flipped(path):
    content = bytearray((path / "optim.safetensors").read_bytes())
    content[-1] ^= 1
    (path / "optim.safetensors").write_bytes(content)


def no_model(path):
    (path / "model.safetensors").unlink()


def no_manifest(path):
    (path / "manifest.json").unlink()


def torn_manifest(path):
    (path / "manifest.json").write_text('{"format": 1, "fil')


def list_manifest(path):
    (path / "manifest.json").write_text("[]")


def empty_manifest(path):
    (path / "manifest.json").write_text("{}")


def emptied(path):
    shutil.rmtree(path)
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (torn, "model.safetensors has 20 bytes"),
        (flipped, "optim.safetensors is not what was written"),
        (no_model, "model.safetensors is missing"),
        (no_manifest, "manifest.json cannot be read"),
        (torn_manifest, "manifest.json is torn"),
        (list_manifest, "does not hold an object"),
        (empty_manifest, "does not list"),
        (emptied, "manifest.json cannot be read"),
    ],
)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_is_used(three, damage, said):
    damage(three.at(100).path)
    warnings = []
    assert three.newest(warnings.append).step == 10
    assert len(warnings) == 1
    assert "step-100" in warnings[0] and said in warnings[0]
    with pytest.raises(Damaged, match="step-100"):
        three.find("step-100", silent)


def test_a_checkpoint_is_found_by_what_it_is_asked_for(three):
    assert three.find(None, silent).step == 100
    three.write_best(10, "bleu", 31.5)
    assert three.find(None, silent).step == three.find("best", silent).step == 10
    assert three.find("latest", silent).step == 100
    assert three.find("step-9", silent).step == 9
    with pytest.raises(HeedfulError, match="no average. Make one: heedful average"):
        three.find("average", silent)
    with pytest.raises(HeedfulError, match="has no step-7. It has: step-9, step-10, step-100"):
        three.find("step-7", silent)
    with pytest.raises(UsageError, match="'newest': ask for latest, best, average or step-N"):
        three.find("newest", silent)


def test_when_the_best_is_damaged_and_was_not_asked_for_the_latest_is_used(three):
    three.write_best(10, "bleu", 31.5)
    torn(three.at(10).path)
    warnings = []
    assert three.find(None, warnings.append).step == 100
    assert "step-10" in warnings[0] and "using the latest" in warnings[0]


def test_an_empty_run_says_what_is_missing(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    with pytest.raises(HeedfulError, match="no whole checkpoint"):
        checkpoints.find(None, silent)
    with pytest.raises(HeedfulError, match="was not evaluated. It has none"):
        checkpoints.find("best", silent)


def test_writing_again_under_a_name_replaces_it(three):
    three.write("step-100", {MODEL: {"w": torch.ones(2)}}, {"step": 100})
    assert three.at(100).tensors(MODEL)["w"].tolist() == [1.0, 1.0]
    assert sorted(p.name for p in three.folder.iterdir()) == ["step-10", "step-100", "step-9"]


def test_a_full_disk_leaves_nothing_half_done_and_says_what_stays(three, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HeedfulError) as caught:
        three.write("step-101", {MODEL: {"w": torch.ones(2)}}, {})
    message = str(caught.value)
    assert "step-101" in message and "No space left on device" in message
    assert "GB are free" in message and "step-100, stays" in message
    with pytest.raises(HeedfulError, match=r"best\.json"):
        three.write_best(1, "bleu", 1.0)
    assert sorted(p.name for p in three.folder.iterdir()) == ["step-10", "step-100", "step-9"]


def test_what_a_crash_left_behind_is_swept(three):
    left = durable.begin_folder(three.folder / "step-101")
    (left / "model.safetensors").write_bytes(b"half")
    (three.folder / f"{durable.TRASH}step-1").mkdir()
    (three.folder / f"{durable.TEMPORARY}best.json").write_text("{")
    assert [c.step for c in three.steps()] == [9, 10, 100]
    assert len(durable.sweep(three.folder)) == 3
    assert sorted(p.name for p in three.folder.iterdir()) == ["step-10", "step-100", "step-9"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "best.json"
    durable.write_file(path, "old")

    def broken(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        durable.write_file(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["best.json"]


def test_the_last_and_the_best_stay():
    kept = [Kept(step, 10, (merit,)) for step, merit in [(1, 5.0), (2, 9.0), (3, 1.0), (4, 2.0)]]
    assert doomed(kept, keep_last=2, keep_best=1, cap=0) == [1]
    assert doomed(kept, keep_last=1, keep_best=2, cap=0) == [3]
    assert doomed(kept, keep_last=1, keep_best=0, cap=0) == [1, 2, 3]
    assert doomed([], keep_last=1, keep_best=1, cap=0) == []


def test_under_a_cap_the_oldest_go_first_and_the_best_before_only_the_newest():
    kept = [Kept(step, 10, (merit,)) for step, merit in [(1, 9.0), (2, 1.0), (3, 1.0), (4, 1.0)]]
    assert doomed(kept, keep_last=9, keep_best=1, cap=30) == [2]
    assert doomed(kept, keep_last=9, keep_best=1, cap=20) == [2, 3]
    assert doomed(kept, keep_last=9, keep_best=1, cap=10) == [1, 2, 3]
    assert doomed(kept, keep_last=9, keep_best=1, cap=1) == [1, 2, 3]


@given(
    sizes=st.lists(st.integers(1, 100), min_size=1, max_size=12),
    keep_last=st.integers(0, 5),
    keep_best=st.integers(0, 3),
    cap=st.integers(0, 300),
    data=st.data(),
)
def test_retention_keeps_the_newest_and_the_cap(sizes, keep_last, keep_best, cap, data):
    kept = []
    for step, size in enumerate(sizes, 1):
        merit = data.draw(st.none() | st.floats(0, 1).map(lambda m: (m,)))
        kept.append(Kept(step, size, merit))
    gone = set(doomed(kept, keep_last, keep_best, cap))
    stay = [k for k in kept if k.step not in gone]
    assert len(sizes) not in gone
    assert len(stay) <= max(keep_last, 1) + keep_best
    assert cap == 0 or len(stay) == 1 or sum(k.size for k in stay) <= cap


def test_state_is_json_that_anyone_can_read(three):
    assert json.loads((three.at(9).path / "state.json").read_text()) == {"step": 9}


def test_where_there_is_none_that_is_all_that_is_said(tmp_path) -> None:
    warnings: list[str] = []
    with pytest.raises(HeedfulError, match="holds no whole checkpoint. Train the run first"):
        Checkpoints(tmp_path / "checkpoints").find(None, warnings.append)
    assert not warnings

"""`decode --processes`: several processes give what one gives, and say what goes wrong in one."""

import json
import os
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from heedful.decoding.decoded import Decoded
from heedful.decoding.hand import Hand
from heedful.decoding.hands import Hands
from heedful.decoding.job import Job
from heedful.errors import HeedfulError, UsageError


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file with lines of all lengths, an empty one and one that is too long."""
    rng = random.Random(1)
    said = [" ".join(rng.choices("01", k=rng.randint(1, 9))) for _ in range(40)]
    said[7], said[23] = "", " ".join("1" * 2_000)
    (tmp_path / "in").write_text("\n".join(said) + "\n")
    return tmp_path / "in"


HOW = {
    "greedy": ("--greedy", "--prefix", "1 0"),
    "beam": ("--beam", "3", "--nbest", "2"),
    "sample": ("--sample", "--temperature", "2", "--seed", "5"),
}


@pytest.mark.parametrize("how", HOW)
def test_they_give_what_one_gives(heedful, tiny_run: Path, lines: Path, how: str) -> None:
    one, several = (
        heedful("decode", tiny_run, "-i", lines, "--jsonl", "--device", "cpu", *HOW[how], *more)
        for more in ((), ("--processes", 3))
    )
    assert one.status == several.status == 0 and several.err == one.err
    assert one.err.startswith("warning: line 24: the line has 2000 tokens")
    assert len(one.lines) == len(several.lines) == 40
    for ours, theirs in zip(several.lines, one.lines, strict=True):
        assert alike(json.loads(ours), json.loads(theirs))


def alike(one: Any, other: Any) -> bool:
    """Whether two lines say the same: scores may differ as those of other batches do."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == (pytest.approx(other, abs=1e-4) if isinstance(other, float) else other)


def test_no_lines_are_no_error(heedful, tiny_run: Path, tmp_path: Path) -> None:
    (tmp_path / "in").touch()
    answer = heedful("decode", tiny_run, "-i", tmp_path / "in", "--processes", 2)
    assert (answer.status, answer.out, answer.err) == (0, "", "")


def test_files_in_the_folder_one_stands_in_are_no_modules(
    heedful, tiny_run: Path, lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines.with_name("json.py").write_text("raise RuntimeError('this is not the library')")
    monkeypatch.chdir(lines.parent)
    answer = heedful("decode", tiny_run, "-i", lines, "--processes", 2, "--device", "cpu")
    assert answer.status == 0 and len(answer.lines) == 40


@pytest.mark.parametrize(
    ("run", "how", "status", "said"),
    [
        ("none", ["--processes", "2"], 1, "no run at none"),
        ("", ["--processes", "2", "--set", "decode.beam=0"], 2, "decode.beam must be at least 1"),
        ("", ["--processes", "2", "--to", "fr"], 2, "cannot write 'fr' on demand"),
        ("", ["--processes", "0"], 2, "--processes must be 1 or more, got 0"),
        ("", ["--processes", "2", "--interactive"], 2, "--interactive is for one line"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    heedful, tiny_run: Path, lines: Path, run: str, how, status: int, said: str
) -> None:
    out = lines.with_name("out")
    answer = heedful("decode", run or tiny_run, "-i", lines, "-o", out, *how)
    assert answer.status == status and answer.out == "" and not out.exists()
    assert answer.err.startswith(f"error: {said}") and answer.err.count("\n") == 1


def test_one_that_is_killed_ends_the_work_and_all_others(tiny_run: Path) -> None:
    hands = Hands(Job(run=str(tiny_run), device="cpu"), 2, lambda text: None)
    pids = [hand.pid for hand in hands._hands]
    stream = hands.decode_stream(["1 0 1"] * 4_000)
    assert isinstance(next(stream), Decoded)
    os.kill(pids[1], signal.SIGKILL)
    with pytest.raises(HeedfulError, match=r"died \(signal 9\).*fewer --processes"):
        list(stream)
    hands.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def asked(hand: Hand, **what):
    return json.loads(json.dumps(hand.answer(json.dumps(what).encode())))


def test_on_a_gpu_they_are_refused(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    said = asked(Hand(), job={"run": str(tiny_run)}, threads=1)
    assert said["usage"] and "for decoding on a CPU, and here is a GPU" in said["error"]


def test_a_process_answers_line_by_line(tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    monkeypatch.setattr("torch.set_num_threads", threads.append)
    hand = Hand()
    begun = asked(hand, job={"run": str(tiny_run), "device": "cpu", "plugins": []}, threads=3)
    assert begun == {"warnings": []} and threads == [3]
    (found,) = asked(hand, texts=["1 0"], prefixes=[""], seed=0, first=5)["decoded"]
    assert set(found) == {"text", "score", "hypotheses", "error"} and found["error"] is None
    assert (
        "no module named"
        in asked(Hand(), job={"run": "x", "plugins": ["none"]}, threads=1)["error"]
    )


def test_what_is_said_of_a_run_is_said_once(tiny_run: Path, tmp_path: Path) -> None:
    run, said = tmp_path / "run", []
    shutil.copytree(tiny_run, run)
    damaged = max((run / "checkpoints").glob("step-*"), key=lambda p: int(p.name[5:]))
    (damaged / "model.safetensors").write_bytes(b"none")
    Hands(Job(run=str(run), device="cpu", checkpoint="latest"), 2, said.append).close()
    assert len(said) == 1 and damaged.name in said[0]


def test_an_error_of_usage_stays_one(tiny_run: Path) -> None:
    with pytest.raises(UsageError, match="decode.beam"):
        Hands(Job(run=str(tiny_run), device="cpu", changes={"beam": 0}), 1, lambda text: None)

"""Claims by several processes: what waits for what, how many run at once, and what fails."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.claims import parallel
from heedful.claims.base import Context, InPieces, Piece, claims
from heedful.claims.elmo import TASKS
from heedful.claims.elmo import TRAININGS as LM
from heedful.claims.parallel import Outcome, Task, at_once, run, tasks
from heedful.claims.runner import read_record
from heedful.errors import HeedfulError

from .conftest import quick

PYTHON = (sys.executable, "-c")
# Says when it began and ended, in a file, and ends as it is told to.
SPAN = (
    "import sys, time; name, folder, seconds, code = sys.argv[1:]; began = time.time();"
    "time.sleep(float(seconds)); open(f'{folder}/{name}', 'w').write(f'{began} {time.time()}');"
    "print('said by', name); sys.exit(int(code))"
)


@pytest.fixture
def task(tmp_path: Path):
    def make(name: str, *after: str, seconds: float = 0.0, code: int = 0, alone: bool = False):
        return Task(
            name=name,
            arguments=(SPAN, name, str(tmp_path), str(seconds), str(code)),
            log=tmp_path / "logs" / f"{name}.log",
            after=after,
            alone=alone,
        )

    return make


@pytest.fixture
def spans(tmp_path: Path):
    """When each task began and ended."""

    def read(name: str) -> tuple[float, float]:
        began, ended = map(float, (tmp_path / name).read_text().split())
        return began, ended

    return read


def together(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def test_tasks_wait_for_those_before_them_and_for_room(task, spans) -> None:
    said: list[str] = []
    wanted = [task("whole", "a", "b"), task("a", seconds=2), task("b", seconds=2), task("c")]
    outcome = run(wanted, 2, said.append, PYTHON)
    assert outcome.done.keys() == {"whole", "a", "b", "c"} and not outcome.failed
    assert together(spans("a"), spans("b"))
    assert spans("whole")[0] >= max(spans("a")[1], spans("b")[1])
    assert spans("c")[0] >= min(spans("a")[1], spans("b")[1])
    assert len(said) == 4 and said[-1].endswith("4 of 4") and "a: done in" in "\n".join(said)


def test_what_is_about_speed_runs_alone_and_last(task, spans) -> None:
    wanted = [task("fast", alone=True, seconds=0.3), task("a", seconds=0.5), task("b")]
    run(wanted, 3, lambda _: None, PYTHON)
    assert spans("fast")[0] >= max(spans("a")[1], spans("b")[1])


def test_what_failed_is_said_and_nothing_that_needs_it_is_done(task, tmp_path: Path) -> None:
    said: list[str] = []
    wanted = [task("a", code=3), task("b"), task("whole", "a", "b"), task("more", "whole")]
    outcome = run(wanted, 2, said.append, PYTHON)
    assert outcome.done.keys() == {"b"}
    assert outcome.failed["a"] == f"said by a (see {tmp_path / 'logs' / 'a.log'})"
    assert outcome.failed["whole"] == "it needs a" and outcome.failed["more"] == "it needs whole"
    assert any(line.startswith("a: failed: said by a") for line in said)


def test_ctrl_c_is_passed_on_and_waited_for(tmp_path: Path) -> None:
    child = (
        "import pathlib, signal, sys, time\n"
        "def stop(*_):\n"
        "    time.sleep(0.5); pathlib.Path(sys.argv[1]).write_text('saved'); sys.exit(130)\n"
        "signal.signal(signal.SIGINT, stop); pathlib.Path(sys.argv[2]).touch(); time.sleep(60)"
    )
    parent = (
        "import sys; from pathlib import Path; from heedful.claims.parallel import Task, run\n"
        f"task = Task(name='a', arguments=({child!r}, 'saved', 'begun'), log=Path('log'))\n"
        "run([task], 1, print, (sys.executable, '-c'))"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], cwd=tmp_path, stderr=-1)
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0 and (tmp_path / "saved").read_text() == "saved"


def test_a_process_has_its_share_of_the_cores(task, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    text = "import os, sys; print(os.environ.get('OMP_NUM_THREADS'))"
    wanted = [
        Task(name=name, arguments=(text,), log=tmp_path / name, alone=alone)
        for name, alone in (("shared", False), ("alone", True))
    ]
    run(wanted, 3, lambda _: None, PYTHON)
    assert (tmp_path / "shared").read_text().strip() == "2"
    assert (tmp_path / "alone").read_text().strip() == "None"


def test_claims_are_cut_into_arms_and_seeds(registered, context: Context, tmp_path: Path) -> None:
    made = tasks(["quick"], replace(context, fresh=True), ("--device", "cpu"), tmp_path / "out")
    arms = [f"quick/{arm}-seed{seed}" for arm in ("ours", "theirs") for seed in (1, 2)]
    assert [one.name for one in made] == [*arms, "quick"]
    told = ("reproduce", "quick", "--device", "cpu")
    assert made[0].arguments == (*told, "--only", "ours", "--seeds", "1", "--fresh")
    assert made[-1].arguments == (*told, "--out", str(tmp_path / "out"))  # not trained anew again
    assert made[-1].after == tuple(arms) and not made[-1].alone
    some = tasks(["quick"], replace(context, seeds=(7,)), (), tmp_path)
    assert [one.name for one in some] == ["quick/ours-seed7", "quick/theirs-seed7", "quick"]
    assert some[-1].arguments[-4:-2] == ("--seeds", "7")


def test_a_claim_about_speed_is_not_cut(context: Context, tmp_path: Path) -> None:
    for name in ("sampled_softmax", "relative_memory"):
        (one,) = tasks([name], context, (), tmp_path)
        assert one.name == name and one.alone and not one.after


def test_what_is_built_on_a_language_model_waits_for_it(context: Context) -> None:
    measure = claims.get("elmo_transfer")().measure
    assert isinstance(measure, InPieces)
    first, *rest = measure.pieces(context)
    assert first == Piece("lm", LM.seeds[0]) and {piece.after for piece in rest} == {"lm"}
    assert len(rest) == 2 * len(TASKS) * 3
    made = tasks(["elmo_transfer"], context, (), Path("out"))
    assert made[1].after == (made[0].name,)


def test_pieces_are_all_that_is_measured(context: Context) -> None:
    for name in claims.names():
        measure = claims.get(name)().measure
        if isinstance(measure, InPieces):
            pieces = measure.pieces(context)
            assert {piece.arm for piece in pieces} == set(measure.arm_names()), name
            assert len(set(pieces)) == len(pieces)
    assert quick().pieces(replace(context, seeds=(3,))) == (Piece("ours", 3), Piece("theirs", 3))


def test_records_are_read_and_failures_said_last(context: Context, tmp_path, monkeypatch) -> None:
    (tmp_path / "one.json").write_text('{"claim": "one"}')
    outcome = Outcome(done={"one": 1.0, "two/a-seed1": 1.0}, failed={"two": "it is lost"})
    monkeypatch.setattr(parallel, "run", lambda *_: outcome)
    monkeypatch.setattr(parallel, "tasks", lambda *_: [])
    found = at_once(["one", "two"], context, tmp_path, 2)
    assert next(found) == ({"claim": "one"}, tmp_path / "one.json")
    with pytest.raises(HeedfulError, match=r"two: it is lost\. Asked again"):
        next(found)
    with pytest.raises(HeedfulError, match="is not a record"):
        read_record(tmp_path / "none.json")

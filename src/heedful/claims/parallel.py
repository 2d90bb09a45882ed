"""Claims measured by several processes at once: an arm with a seed each, then claims as a whole.

Several small models train on one GPU in little more time than one of them. Speeds are then those of
a machine that is shared: records say so, and claims about speed are measured alone, at the end.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heedful.claims.base import Context, InPieces, claims
from heedful.claims.runner import Record, read_record
from heedful.errors import HeedfulError

PATIENCE = 60.0  # seconds for a process that is told to stop, in which it saves what it has
LOOK = 0.2  # seconds between two looks at them


@dataclass(frozen=True, kw_only=True)
class Task:
    """What one process does, once those before it are done."""

    name: str
    arguments: tuple[str, ...]  # of the command
    log: Path  # what it says
    after: tuple[str, ...] = ()
    alone: bool = False


@dataclass
class Outcome:
    """Which tasks came to an end, how many seconds they took, and which could not be done."""

    done: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # and why

    def has(self, name: str) -> bool:
        return name in self.done or name in self.failed

    def has_all(self, wanted: Sequence[Task]) -> bool:
        return all(self.has(task.name) for task in wanted)

    def ended(self, one: "_Running", code: int, of: int) -> str:
        """Take in what came of a process, and say it."""
        name, took = one.task.name, time.monotonic() - one.began
        if code == 0:
            self.done[name] = took
            return f"{name}: done in {took:,.0f} s, {len(self.done)} of {of}"
        self.failed[name] = f"{last_line(one.task.log)} (see {one.task.log})"
        return f"{name}: failed: {self.failed[name]}"


def at_once(
    names: Sequence[str], context: Context, out: Path, jobs: int, options: Sequence[str] = ()
) -> Iterator[tuple[Record, Path]]:
    """Measure claims by so many processes at a time. What failed is said at the end."""
    outcome = run(tasks(names, context, options, out), jobs, context.note)
    for name in names:
        if name in outcome.done:
            path = out / f"{name}.json"
            yield read_record(path), path
    if outcome.failed:
        why = "; ".join(f"{name}: {reason}" for name, reason in outcome.failed.items())
        raise HeedfulError(f"could not do all: {why}. Asked again, what is trained is used")


def tasks(names: Iterable[str], context: Context, options: Sequence[str], out: Path) -> list[Task]:
    """The pieces of all claims, in turn, then each claim; those about speed last. `options` are
    what all processes are told."""
    found: list[Task] = []
    for name in names:
        claim = claims.get(name)()
        folder = context.runs / name
        told = ("reproduce", name, *options)
        anew = ("--fresh",) if context.fresh else ()
        before: dict[str, list[str]] = {}  # of each arm, the names of its tasks
        measure = claim.measure
        pieces = measure.pieces(context) if isinstance(measure, InPieces) else ()
        for piece in () if claim.alone else pieces:
            task = Task(
                name=f"{name}/{piece.arm}-seed{piece.seed}",
                arguments=(*told, "--only", piece.arm, "--seeds", str(piece.seed), *anew),
                log=folder / f"{piece.arm}-seed{piece.seed}.log",
                after=tuple(before.get(piece.after, ())),
            )
            before.setdefault(piece.arm, []).append(task.name)
            found.append(task)
        seeds = ("--seeds", ",".join(map(str, context.seeds))) if context.seeds else ()
        whole = Task(
            name=name,
            arguments=(*told, *seeds, "--out", str(out), *(() if before else anew)),
            log=folder / "whole.log",
            after=tuple(one for each in before.values() for one in each),
            alone=claim.alone or not before,
        )
        found.append(whole)
    return found


def run(
    wanted: Sequence[Task],
    jobs: int,
    note: Callable[[str], None],
    command: Sequence[str] = (sys.executable, "-P", "-m", "heedful"),
) -> Outcome:
    """Do all tasks, so many at once. What has to wait for one that failed is not done."""
    outcome, running = Outcome(), dict[str, _Running]()
    # What had to wait comes first: with its arms trained, a claim is soon measured.
    order = sorted(wanted, key=lambda task: (task.alone, not task.after))
    try:
        while not outcome.has_all(wanted):
            for name, one in list(running.items()):
                code = one.process.poll()
                if code is not None:
                    del running[name]
                    note(outcome.ended(one, code, len(wanted)))
            for task in order:
                if task.name in running or outcome.has(task.name):
                    continue
                lost = next((name for name in task.after if name in outcome.failed), "")
                if lost:
                    outcome.failed[task.name] = f"it needs {lost}"
                elif _room(task, running, jobs) and all(n in outcome.done for n in task.after):
                    running[task.name] = _start(task, jobs, command)
            time.sleep(LOOK)
    finally:
        _stop(running.values())
    return outcome


def last_line(log: Path) -> str:
    """What a process said last."""
    lines = log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").splitlines()
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


@dataclass(frozen=True)
class _Running:
    task: Task
    process: subprocess.Popen[bytes]
    began: float


def _room(task: Task, running: Mapping[str, _Running], jobs: int) -> bool:
    if task.alone or any(one.task.alone for one in running.values()):
        return not running
    return len(running) < jobs


def _start(task: Task, jobs: int, command: Sequence[str]) -> _Running:
    task.log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if not task.alone:  # each its share of the cores
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        environment.setdefault("OMP_NUM_THREADS", str(max(1, (cores or 1) // jobs)))
    with task.log.open("wb") as log:
        process = subprocess.Popen(
            (*command, *task.arguments),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # ctrl-c is passed on by us, once
        )
    return _Running(task, process, time.monotonic())


def _stop(running: Iterable[_Running]) -> None:
    """Tell processes to stop, and wait until they have saved what they have."""
    left = list(running)
    for one in left:
        one.process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + PATIENCE
    for one in left:
        try:
            one.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.wait()

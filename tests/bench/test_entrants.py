"""Who is compared has a process of its own, and takes nobody along when that ends."""

import importlib
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
import torch

from heedful.bench.entrants import Away, Engine, Here

from .conftest import CPU

BATCHES = [[[3, 1], [4, 1]], [[5, 1]]]
ENGINES = """
import os, signal, torch

def telling():
    def engine(sources, beam):
        return [[*source, os.getpid(), torch.get_num_threads(), beam] for source in sources]
    return engine

def failing():
    raise ValueError("no such model")

def dying(after):
    calls = []
    def engine(sources, beam):
        calls.append(1)
        if len(calls) > after:
            os.kill(os.getpid(), signal.SIGKILL)
        return [list(source) for source in sources]
    return engine
"""


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Engines that another process finds, too."""
    (tmp_path / "engines_to_try.py").write_text(ENGINES)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("engines_to_try")


def entrant(make: Callable[[], Engine]) -> Here:
    return Here("one", "float32", make, 2, BATCHES, CPU)


@pytest.mark.parametrize("where", [lambda one: one, Away], ids=["here", "away"])
def test_each_turn_is_timed_and_heard(where, engines: ModuleType) -> None:
    one = where(entrant(engines.telling))
    one.warm_up(1)
    assert one.shown.seconds == []
    one.take_a_turn()
    one.take_a_turn()
    one.close()
    assert len(one.shown.seconds) == 2 and min(one.shown.seconds) > 0
    first, end, process, threads, beam = zip(*one.shown.said, strict=True)
    assert first == (3, 4, 5) and end == (1, 1, 1)
    assert (set(process) == {os.getpid()}) != isinstance(one, Away)
    assert set(threads) == {torch.get_num_threads()} and set(beam) == {2}


def test_a_failure_is_told_from_afar(engines: ModuleType) -> None:
    one = Away(entrant(engines.failing))
    one.warm_up(1)
    one.take_a_turn()
    one.close()
    assert one.shown.failure == "failed: ValueError: no such model"


def test_a_process_that_ends_loses_only_its_own(engines: ModuleType) -> None:
    one = Away(entrant(partial(engines.dying, 2)))
    one.warm_up(1)
    assert not one.shown.failure
    one.take_a_turn()
    assert one.shown.failure == f"failed: its process ended with {-signal.SIGKILL}"
    one.take_a_turn()
    one.close()

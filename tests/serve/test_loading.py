"""Runs are loaded for a server so that only those who decode have threads."""

import threading
from pathlib import Path

import pytest

from heedful.serve import loading


def test_a_run_is_loaded_aside(learnt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, where = loading.load_model, []

    def noted(*given):
        where.append(threading.current_thread())
        return real(*given)

    monkeypatch.setattr(loading, "load_model", noted)
    (served,) = loading.load_runs([f"mine={learnt}"], None, "cpu", {"beam": 2}, print)
    assert served.name == "mine" and served.translator.config.beam == 2
    assert where[0] is not threading.current_thread() and not where[0].is_alive()


def test_a_run_is_served_in_the_precision_that_is_asked_for(
    learnt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        loading, "make_ready", lambda model, precision, place: asked.append(precision)
    )
    loading.load_runs([str(learnt)], None, "cpu", {}, print, "int8")
    loading.load_runs([str(learnt)], None, "cpu", {}, print)
    assert asked == ["int8", "auto"]

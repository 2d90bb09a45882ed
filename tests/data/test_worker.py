"""A worker's side of the line, without the process; test_loader.py has the processes."""

import contextlib
import io
import json
from types import SimpleNamespace

import pytest

from heedful.data import worker
from heedful.data.batching import Packed
from heedful.data.recipe import Cursor, Made, Recipe
from heedful.data.shards import Shards
from heedful.data.worker import ask, receive, send
from heedful.errors import HeedfulError


class Full(io.BytesIO):
    """A pipe whose reader leaves after some bytes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, data: object) -> int:
        if self.tell() > self.room:
            raise BrokenPipeError
        return super().write(data)  # type: ignore[arg-type]


class Left(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def recipe(shards: Shards) -> Recipe:
    return Recipe(shards, ("inputs", "targets"), Packed(tokens=32, row=16), seed=1, parts=2)


def same(one: Made, other: Made) -> bool:
    counts = [(m.cursor, m.tokens, m.slots, m.targets) for m in (one, other)]
    arrays = [
        [(examples.tolist(), [sheet.tolist() for sheet in sheets]) for examples, sheets in m.parts]
        for m in (one, other)
    ]
    return counts[0] == counts[1] and arrays[0] == arrays[1]


def answer(request: bytes, monkeypatch: pytest.MonkeyPatch, room: int = 10_000) -> io.BytesIO:
    """What a worker says to a request, until its reader leaves."""
    out = Full(room)
    streams = SimpleNamespace(
        stdin=SimpleNamespace(buffer=io.BytesIO(request)), stdout=SimpleNamespace(buffer=out)
    )

    def leave(status: int) -> None:
        raise Left

    monkeypatch.setattr(worker, "sys", streams)
    monkeypatch.setattr(worker.os, "_exit", leave)
    with contextlib.suppress(Left):
        worker.main()
    out.seek(0)
    return out


def test_a_step_arrives_as_it_was_sent(recipe: Recipe) -> None:
    made = next(recipe.steps(Cursor()))
    pipe = io.BytesIO()
    send(made, pipe)
    pipe.seek(0)
    assert same(receive(pipe), made)


def test_a_step_cut_short_anywhere_is_the_end(recipe: Recipe) -> None:
    pipe = io.BytesIO()
    send(next(recipe.steps(Cursor())), pipe)
    whole = pipe.getvalue()
    for size in [0, 1, 50, *range(100, len(whole), 37)]:
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole[:size]))


def test_a_worker_makes_its_turns_and_stops_with_its_reader(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = answer(ask(recipe, Cursor(0, 3), take=1, stride=3), monkeypatch)
    steps = recipe.steps(Cursor(0, 3))
    for number in range(8):
        wanted = next(steps)
        if number % 3 == 1:
            assert same(receive(out), wanted)


def test_a_worker_says_why_it_cannot(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    request = json.loads(ask(recipe, Cursor(), 0, 1))
    missing = json.dumps({**request, "split": "tests"}).encode()
    with pytest.raises(HeedfulError, match="failed: no prepared 'tests' split"):
        receive(answer(missing, monkeypatch))
    wrong = json.dumps({**request, "features": ["inputs", "sides"]}).encode()
    with pytest.raises(HeedfulError, match="failed: KeyError: 'sides'"):
        receive(answer(wrong, monkeypatch))

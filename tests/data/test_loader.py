import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from heedful.data import crew as crew_module
from heedful.data.batch import Batch
from heedful.data.batching import Batching, Bucketed, Packed
from heedful.data.loader import Cursor, Loader, Step, evaluation_batches
from heedful.data.recipe import Recipe
from heedful.data.shards import Shards
from heedful.data.worker import ask
from heedful.errors import HeedfulError, UsageError

FEATURES = ("inputs", "targets")
BOTH = [Packed(tokens=64, row=16), Bucketed(tokens=64, window=90)]
START = Cursor()


def loader(shards: Shards, batching: Batching, **changes: Any) -> Loader:
    return Loader(shards, FEATURES, batching, **{"seed": 1, "parts": 2, **changes})


def take(loader: Loader, count: int, start: Cursor = START) -> list[Step]:
    with closing(loader.steps(start)) as steps:  # type: ignore[type-var]
        return list(islice(steps, count))


def content(batch: Batch) -> tuple[Any, ...]:
    sides = [(rows.ids, rows.at.positions, rows.at.segments) for rows in batch.features.values()]
    return batch.examples, [[tensor.tolist() for tensor in side] for side in sides]


def contents(steps: list[Step]) -> list[Any]:
    counts = [(step.cursor, step.tokens, step.slots, step.targets) for step in steps]
    return [*counts, [[content(part) for part in step.parts] for step in steps]]


@pytest.mark.parametrize("batching", BOTH)
def test_any_number_of_workers_gives_the_same_steps(shards: Shards, batching: Batching) -> None:
    alone = contents(take(loader(shards, batching), 60))
    for workers in (1, 2):
        assert contents(take(loader(shards, batching, workers=workers), 60)) == alone


def test_a_killed_worker_is_replaced_and_nothing_changes(shards: Shards) -> None:
    crowd = loader(shards, BOTH[0], workers=2)
    with closing(crowd.steps(START)) as steps:  # type: ignore[type-var]
        seen = list(islice(steps, 7))
        assert crowd.crew is not None
        for victims in (slice(0, 2), slice(0, 1)):  # both at once, then one alone
            killed = crowd.crew.pids[victims]
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            while set(killed) & set(crowd.crew.pids):  # what they had sent comes first
                seen.append(next(steps))
                assert len(seen) < 2000, "a killed worker was never replaced"
            seen += islice(steps, 7)
    assert contents(seen) == contents(take(loader(shards, BOTH[0]), len(seen)))


@pytest.mark.parametrize("batching", BOTH)
def test_going_on_from_any_cursor_gives_the_identical_rest(
    shards: Shards, batching: Batching
) -> None:
    whole = take(loader(shards, batching, parts=3), 40)
    assert whole[-1].cursor.epoch >= 1
    for stop in (0, 1, 9, 17, 25, 38):
        rest = take(loader(shards, batching, parts=3), 39 - stop, whole[stop].cursor)
        assert contents(rest) == contents(whole[stop + 1 :])


def test_files_in_the_folder_one_stands_in_are_no_modules(
    shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = contents(take(loader(shards, BOTH[0]), 3))
    (tmp_path / "json.py").write_text("raise RuntimeError('this is not the library')")
    monkeypatch.chdir(tmp_path)
    assert contents(take(loader(shards, BOTH[0], workers=1), 3)) == alone


def test_going_on_works_with_workers_too(shards: Shards) -> None:
    whole = take(loader(shards, BOTH[1]), 12)
    rest = take(loader(shards, BOTH[1], workers=2), 6, whole[5].cursor)
    assert contents(rest) == contents(whole[6:])


@pytest.mark.parametrize("world", [2, 4])
def test_ranks_share_out_the_same_step(shards: Shards, world: int) -> None:
    whole = take(loader(shards, BOTH[0], parts=4), 10)
    ranks = [
        take(loader(shards, BOTH[0], parts=4, rank=rank, world=world), 10) for rank in range(world)
    ]
    for number, step in enumerate(whole):
        shares = [rank[number] for rank in ranks]
        assert all(
            (s.cursor, s.tokens, s.slots) == (step.cursor, step.tokens, step.slots) for s in shares
        )
        for index, part in enumerate(step.parts):
            assert content(shares[index % world].parts[index // world]) == content(part)


@pytest.mark.parametrize("batching", BOTH)
@pytest.mark.parametrize("parts", [1, 3, 7])
def test_every_example_comes_once_an_epoch_and_epochs_differ(
    shards: Shards, batching: Batching, parts: int
) -> None:
    recipe = Recipe(shards, FEATURES, batching, seed=1, parts=parts)
    epochs: dict[int, list[int]] = {0: [], 1: [], 2: []}
    before = START
    for part, after in recipe.line(START):
        if before.epoch == 2:
            break
        epochs[before.epoch] += part.examples.tolist()
        before = after
    assert Counter(epochs[0]) == Counter(epochs[1]) == Counter(range(len(shards)))
    assert epochs[0] != epochs[1]
    whole = [
        e for part, _ in islice(recipe.line(START), 10 * parts) for e in part.examples.tolist()
    ]
    taken = take(loader(shards, batching, parts=parts), 10)  # steps cut the same line of parts
    assert [e for step in taken for part in step.parts for e in part.examples] == whole


def test_a_step_over_the_end_of_an_epoch_is_filled_from_the_next(shards: Shards) -> None:
    batching = Packed(tokens=100_000, row=100)  # the whole split in one part
    steps = take(loader(shards, batching, parts=3), 2)
    assert [step.cursor for step in steps] == [Cursor(3, 0), Cursor(6, 0)]
    assert [sorted(part.examples) for part in steps[0].parts] == [list(range(300))] * 3


def test_packed_steps_have_one_shape_to_the_end_of_the_epoch(shards: Shards) -> None:
    shapes = {
        tuple(rows.ids.shape)
        for step in take(loader(shards, BOTH[0]), 100)
        for part in step.parts
        for rows in part.features.values()
    }
    assert shapes == {(4, 16)}


def test_counts_are_of_the_whole_step(shards: Shards) -> None:
    for step in take(loader(shards, BOTH[1], parts=2), 5):
        sides = [rows for part in step.parts for rows in part.features.values()]
        assert step.tokens == sum(int(rows.at.real.sum()) for rows in sides)
        assert step.slots == sum(rows.ids.numel() for rows in sides)
        assert step.targets == sum(int(part.targets.at.real.sum()) for part in step.parts)


def test_too_long_examples_are_left_out_and_counted(shards: Shards) -> None:
    short = loader(shards, Bucketed(tokens=64, longest=9))
    longer = {i for i in range(300) if max(len(x) for x in shards.example(i).values()) > 9}
    assert short.dropped == len(longer) > 0
    seen = {e for step in take(short, 40) for part in step.parts for e in part.examples}
    assert seen == set(range(300)) - longer


@pytest.mark.parametrize(
    ("batching", "setting"),
    [
        (Bucketed(tokens=64, longest=1), "batch.longest"),
        (Bucketed(tokens=1, longest=9), "batch.tokens"),
        (Packed(tokens=64, row=1, longest=9), "batch.row"),
        (Packed(tokens=64, row=1, longest=1), "batch.longest and batch.row"),
    ],
)
def test_if_all_are_too_long_that_is_an_error(shards: Shards, batching, setting: str) -> None:
    with pytest.raises(HeedfulError, match=f"all 300 are longer than 1 tokens. Raise {setting}$"):
        loader(shards, batching)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"parts": 3, "world": 2}, "must be a multiple of 2"), ({"rank": 2, "world": 2}, "rank 2"),
     ({"workers": -1}, "training.workers")],
)  # fmt: skip
def test_settings_that_cannot_be_are_errors(
    shards: Shards, changes: dict[str, int], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        loader(shards, BOTH[0], **changes)


@pytest.mark.parametrize("workers", [0, 2])
def test_closing_the_steps_ends_threads_and_processes(shards: Shards, workers: int) -> None:
    before = threading.active_count()
    crowd = loader(shards, BOTH[0], workers=workers)
    steps = crowd.steps(START)
    next(steps)
    pids = crowd.crew.pids if crowd.crew is not None else []
    assert threading.active_count() == before + 1 and len(pids) == workers
    steps.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_what_goes_wrong_in_the_thread_is_raised_to_the_reader(
    shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Iterator[Any]:
        raise HeedfulError("no disk")

    monkeypatch.setattr(Shards, "gather", fail)
    with pytest.raises(HeedfulError, match="no disk"):
        take(loader(shards, BOTH[0]), 1)


def test_what_goes_wrong_in_a_worker_is_raised_to_the_reader(shards: Shards) -> None:
    crowd = loader(shards, BOTH[0], workers=1)
    next(shards.folder.glob("*.arrow")).write_bytes(b"")
    with pytest.raises(HeedfulError, match="making batches failed: .*is damaged"):
        take(crowd, 1)


def test_workers_that_keep_dying_are_given_up(
    shards: Shards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module.sys, "executable", "/bin/false")
    with pytest.raises(HeedfulError, match=r"died 4 times in a row \(exit status 1\)"):
        take(loader(shards, BOTH[0], workers=1), 1)


def test_a_worker_ends_when_its_reader_goes_away(shards: Shards) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "heedful.data.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(ask(Recipe(shards, FEATURES, BOTH[0], 1, 2), START, 0, 1))
    worker.stdin.close()
    assert "cursor" in json.loads(worker.stdout.readline())
    worker.stdout.close()
    assert worker.wait(timeout=20) == 0


def test_evaluation_covers_a_split_once_from_short_to_long(shards: Shards) -> None:
    batches = list(evaluation_batches(shards, FEATURES, tokens=60))
    assert Counter(e for batch in batches for e in batch.examples) == Counter(range(300))
    widths = [max(rows.ids.shape[1] for rows in batch.features.values()) for batch in batches]
    assert widths == sorted(widths)
    for batch in batches:
        assert len(batch.examples) * max(r.ids.shape[1] for r in batch.features.values()) <= 60
        for row, example in enumerate(batch.examples):
            ids = batch.targets.ids[row][batch.targets.at.real[row]]
            assert ids.tolist() == shards.example(example)["targets"].tolist()
            assert ids.dtype == torch.long


def test_evaluation_takes_chosen_examples_and_one_side_alone(shards: Shards) -> None:
    (batch,) = evaluation_batches(shards, ("inputs",), tokens=1000, examples=[7, 2, 11])
    assert sorted(batch.examples) == [2, 7, 11] and set(batch.features) == {"inputs"}
    assert list(evaluation_batches(shards, FEATURES, tokens=10, examples=[])) == []

"""Mixing by temperature: how much of each member an epoch has, and that it changes nothing else."""

import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heedful.data.batching import Batching, Bucketed, Packed
from heedful.data.loader import Cursor, Loader, Step
from heedful.data.mixing import draw, shares
from heedful.data.parts import Draws
from heedful.data.recipe import Recipe
from heedful.data.shards import Shards, ShardWriter
from heedful.errors import HeedfulError, UsageError

FEATURES = ("inputs", "targets")
MEMBERS = ["cs" if i % 35 == 1 else "fr" if i % 6 == 0 else "de" for i in range(247)]
BOTH = [Packed(tokens=64, row=16, temperature=5.0), Bucketed(tokens=64, window=90, temperature=5.0)]
START = Cursor()

sizes = st.lists(st.integers(1, 10**9), min_size=1, max_size=12)
temperatures = st.floats(1, 1e9)


def written(folder: Path, members: list[str]) -> Shards:
    """A training split whose example i has the ids 1000 + i and 5000 + i, some of each."""
    folder.mkdir()
    tags = {label: label for label in sorted(set(members))}
    with ShardWriter(folder, "train", FEATURES, raw=False, tags=tags) as writer:
        for i, label in enumerate(members):
            ids = {"inputs": [[1000 + i] * (i % 13 + 1)], "targets": [[5000 + i] * (i % 7 + 1)]}
            writer.write(ids, members=[label])
    return Shards(folder, "train")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    return written(tmp_path_factory.mktemp("mixed") / "data", MEMBERS)


@given(sizes, temperatures)
@example([10**9, 1], 1.0)
def test_shares_add_up_to_what_is_there_and_no_member_is_lost(
    sizes: list[int], temperature: float
) -> None:
    counts = shares(sizes, temperature)
    assert sum(counts) == sum(sizes) and min(counts) >= 1
    weights = [size ** (1 / temperature) for size in sizes]
    for count, weight in zip(counts, weights, strict=True):
        exact = sum(sizes) * weight / sum(weights)
        assert abs(count - exact) < 1 + 1e-6 * exact


@given(sizes, temperatures, temperatures)
def test_hotter_is_more_equal(sizes: list[int], one: float, other: float) -> None:
    cold, hot = sorted((one, other))
    small, large = sizes.index(min(sizes)), sizes.index(max(sizes))
    assert shares(sizes, hot)[small] >= shares(sizes, cold)[small] - 1
    assert shares(sizes, hot)[large] <= shares(sizes, cold)[large] + 1
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(np.array(shares(sizes, hot))[order]) >= -1).all()  # 1 for rounding


def test_shares_by_hand() -> None:
    assert shares([900, 100], 1.0) == [900, 100]
    assert shares([900, 100], 2.0) == [750, 250]  # the roots are 30 and 10
    assert shares([900, 100], 1e9) == [500, 500]
    assert shares([5, 5, 5], 7.0) == [5, 5, 5]
    assert shares([3, 1], 1e9) == [2, 2]
    assert shares([1_000_000, 10_000, 100], 5.0) == [648_916, 258_338, 102_846]
    assert shares([1_000_000, 10_000, 100], 2.0) == [910_000, 91_000, 9_100]
    assert shares([], 5.0) == []


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), temperatures, st.integers(0, 2**70))
def test_an_epoch_has_whole_members_and_a_rest_without_repeats(
    sizes: list[int], temperature: float, seed: int
) -> None:
    ends = np.cumsum(sizes)
    groups = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    counts = shares(sizes, temperature)
    chosen = draw(groups, counts, Draws(seed, 3))
    times = Counter(chosen.tolist())
    for group, count in zip(groups, counts, strict=True):
        of_group = [times[i] for i in group.tolist()]
        assert sum(of_group) == count
        assert max(of_group) - min(of_group) <= 1 and min(of_group) == count // len(group)
    assert chosen.tolist() == draw(groups, counts, Draws(seed, 3)).tolist()


def test_what_is_left_out_differs_from_epoch_to_epoch() -> None:
    groups, counts = [np.arange(100), np.arange(100, 110)], [60, 50]
    epochs = [set(draw(groups, counts, Draws(1, epoch)).tolist()) for epoch in range(6)]
    assert len(set(map(frozenset, epochs))) == 6
    assert set.union(*epochs) == set(range(110))  # in time all of it is seen


def loader(shards: Shards, batching: Batching, **changes: Any) -> Loader:
    return Loader(shards, FEATURES, batching, **{"seed": 1, "parts": 2, **changes})


def take(loader: Loader, count: int, start: Cursor = START) -> list[Step]:
    with closing(loader.steps(start)) as steps:  # type: ignore[type-var]
        return list(islice(steps, count))


def contents(steps: list[Step]) -> list[Any]:
    return [
        (
            (step.cursor, step.tokens, step.slots, step.targets),
            [
                (part.examples, [rows.ids.tolist() for rows in part.features.values()])
                for part in step.parts
            ],
        )
        for step in steps
    ]


def epoch(shards: Shards, batching: Batching, number: int, seed: int = 1) -> list[int]:
    line = Recipe(shards, FEATURES, batching, seed, parts=1).line(Cursor(number))
    found: list[int] = []
    for part, after in line:
        found += part.examples.tolist()
        if after.epoch > number:
            return found
    raise AssertionError("the line is endless")


@pytest.mark.parametrize("batching", BOTH)
def test_members_come_up_by_their_shares(shards: Shards, batching: Batching) -> None:
    assert shards.members is not None and shards.labels == ("cs", "de", "fr")
    kept = Recipe(shards, FEATURES, batching, 1, 1).kept()
    there = [int((shards.members[kept] == number).sum()) for number in range(3)]
    for number in (0, 1):
        seen = epoch(shards, batching, number)
        assert len(seen) == len(kept) and set(seen) <= set(kept.tolist())
        counts = [int((shards.members[seen] == number).sum()) for number in range(3)]
        assert counts == shares(there, 5.0)
        assert counts[0] > 40 > there[0]  # the small one comes again and again
    assert epoch(shards, batching, 0) == epoch(shards, batching, 0)
    assert epoch(shards, batching, 0) != epoch(shards, batching, 1)
    assert epoch(shards, batching, 0) != epoch(shards, batching, 0, seed=2)


@pytest.mark.parametrize("batching", BOTH)
def test_any_number_of_workers_gives_the_same_steps(shards: Shards, batching: Batching) -> None:
    alone = contents(take(loader(shards, batching), 40))
    assert alone[-1][0][0].epoch >= 1
    for workers in (1, 2):
        assert contents(take(loader(shards, batching, workers=workers), 40)) == alone


@pytest.mark.parametrize("batching", BOTH)
def test_going_on_from_any_cursor_gives_the_identical_rest(
    shards: Shards, batching: Batching
) -> None:
    whole = take(loader(shards, batching, parts=3), 30)
    assert whole[-1].cursor.epoch >= 2
    for stop in (0, 1, 6, 7, 13, 20, 27):
        rest = take(loader(shards, batching, parts=3), 29 - stop, whole[stop].cursor)
        assert contents(rest) == contents(whole[stop + 1 :])


@pytest.mark.parametrize("batching", BOTH)
def test_ranks_share_out_the_same_step(shards: Shards, batching: Batching) -> None:
    whole = take(loader(shards, batching, parts=4), 12)
    ranks = [take(loader(shards, batching, parts=4, rank=r, world=2), 12) for r in (0, 1)]
    for number, step in enumerate(whole):
        for index, part in enumerate(step.parts):
            theirs = ranks[index % 2][number].parts[index // 2]
            assert theirs.examples == part.examples


@pytest.mark.parametrize("batching", BOTH)
def test_without_a_temperature_the_order_is_that_of_any_other_problem(
    shards: Shards, batching: Batching, tmp_path: Path
) -> None:
    """A mixture at 1, and the same examples without members: bit for bit the same."""
    with ShardWriter(tmp_path, "train", FEATURES, raw=False) as writer:
        for i in range(len(shards)):
            ids = {name: [found[:-1].tolist()] for name, found in shards.example(i).items()}
            writer.write(ids)
    natural = replace(batching, temperature=1.0)
    plain = Shards(tmp_path, "train")
    assert plain.members is None
    assert contents(take(loader(shards, natural), 40)) == contents(take(loader(plain, natural), 40))


def test_the_order_is_the_one_it_always_was(shards: Shards) -> None:
    """Literal, so that a change of the order is seen: runs that are resumed would notice."""
    batching = Packed(tokens=64, row=16, temperature=5.0)
    assert epoch(shards, batching, 0)[:12] == [
        31,
        160,
        183,
        30,
        212,
        132,
        235,
        48,
        182,
        246,
        104,
        164,
    ]


def test_a_temperature_without_members_is_an_error(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, "train", FEATURES, raw=False) as writer:
        writer.write({"inputs": [[5]], "targets": [[5]]})
    with pytest.raises(UsageError, match="batch.temperature=5 is for the members of a mixture"):
        Recipe(Shards(tmp_path, "train"), FEATURES, BOTH[0], 1, 1)


def test_a_member_that_is_all_too_long_is_an_error(tmp_path: Path) -> None:
    shards = written(tmp_path / "data", ["de", "fr"] * 6 + ["cs"])  # its 13th has 14 ids
    recipe = Recipe(shards, FEATURES, Bucketed(longest=13, temperature=2.0), 1, 1)
    with pytest.raises(HeedfulError, match="no example of member 'cs' can be trained on: all are"):
        next(recipe.line(START))
    natural = Recipe(shards, FEATURES, Bucketed(longest=13), 1, 1)
    assert len(next(natural.line(START))[0].examples) == 12  # as ever: what is too long is left out


def test_drawing_needs_no_torch() -> None:
    code = "import sys, heedful.data.recipe; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

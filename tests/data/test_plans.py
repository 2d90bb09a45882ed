"""Both ways of planning an epoch, packing and buckets, and the arrays made from a plan."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data import buckets, packing
from heedful.data.batching import Batching, Bucketed, Packed
from heedful.data.parts import Draws, Part, assemble
from heedful.data.shards import Indices, Ints, Shards, ShardWriter
from heedful.text.specials import EOS

lengths_of_pairs = st.lists(
    st.tuples(st.integers(1, 16), st.integers(1, 16)), min_size=1, max_size=60
)
BOTH = [Packed(tokens=64, row=16, window=3), Bucketed(tokens=64, window=25, multiple=4)]


def columns(pairs: list[tuple[int, int]]) -> list[Ints]:
    return [np.array(side, np.int32) for side in zip(*pairs, strict=True)]


def plan(lengths: list[Ints], kept: Indices, batching: Batching, draws: Draws) -> list[Part]:
    if isinstance(batching, Packed):
        return list(packing.plan(lengths, kept, batching, draws))
    assert isinstance(batching, Bucketed)
    return list(buckets.plan(lengths, kept, batching, draws))


def flat(parts: list[Part]) -> list[tuple[list[int], list[int]]]:
    return [(part.examples.tolist(), part.rows.tolist()) for part in parts]


@pytest.mark.parametrize("batching", BOTH)
@given(pairs=lengths_of_pairs, seed=st.integers(0, 2**64), epoch=st.integers(0, 9))
def test_every_kept_example_is_planned_exactly_once(
    batching: Batching, pairs: list[tuple[int, int]], seed: int, epoch: int
) -> None:
    kept = np.arange(0, len(pairs), 2)
    parts = plan(columns(pairs), kept, batching, Draws(seed, epoch))
    assert Counter(np.concatenate([part.examples for part in parts]).tolist()) == Counter(kept)


@given(pairs=lengths_of_pairs, window=st.integers(1, 5))
def test_packed_parts_have_one_shape_and_hold_what_they_are_given(
    pairs: list[tuple[int, int]], window: int
) -> None:
    batching = Packed(tokens=48, row=16, window=window)
    lengths = columns(pairs)
    for part in plan(lengths, np.arange(len(pairs)), batching, Draws(1, 0)):
        assert (part.height, part.widths, part.slots) == (3, (16, 16), 96)
        for side in lengths:
            filled = np.bincount(part.rows, side[part.examples], minlength=3)
            assert len(filled) == 3 and filled.max() <= 16


@given(pairs=lengths_of_pairs, multiple=st.sampled_from([1, 4, 8]), tokens=st.integers(16, 90))
def test_bucketed_parts_keep_to_the_budget(
    pairs: list[tuple[int, int]], multiple: int, tokens: int
) -> None:
    lengths = columns(pairs)
    batching = Bucketed(tokens=tokens, multiple=multiple, window=20)
    for part in plan(lengths, np.arange(len(pairs)), batching, Draws(1, 0)):
        assert part.height * max(part.widths) <= tokens
        assert part.rows.tolist() == list(range(part.height))
        for side, width in zip(lengths, part.widths, strict=True):
            longest = side[part.examples].max()
            assert width % multiple == 0 and longest <= width < longest + multiple


def test_an_example_over_the_budget_is_a_batch_of_its_own() -> None:
    parts = list(buckets.cut(columns([(9, 2), (3, 3), (2, 12)]), np.arange(3), tokens=6))
    assert [part.examples.tolist() for part in parts] == [[1], [0], [2]]
    assert [part.widths for part in parts] == [(3, 3), (9, 2), (2, 12)]


@pytest.mark.parametrize("batching", BOTH)
def test_order_depends_on_seed_and_epoch_and_on_nothing_else(batching: Batching) -> None:
    rng = np.random.default_rng(3)
    lengths = [rng.integers(1, 16, 200).astype(np.int32) for _ in range(2)]
    kept = np.arange(200)
    first = flat(plan(lengths, kept, batching, Draws(5, 2)))
    np.random.seed(99)
    assert flat(plan(lengths, kept, batching, Draws(5, 2))) == first
    assert flat(plan(lengths, kept, batching, Draws(5, 3))) != first
    assert flat(plan(lengths, kept, batching, Draws(6, 2))) != first


def test_order_is_the_same_in_every_version() -> None:
    assert Draws(1, 0).order(8).tolist() == [3, 5, 2, 7, 0, 6, 1, 4]
    assert Draws(-1, 0).order(8).tolist() == Draws(2**64 - 1, 0).order(8).tolist()


@pytest.mark.parametrize(("mean", "row"), [(8, 256), (20, 256), (8, 64)])
def test_rows_of_short_pairs_are_full(mean: int, row: int) -> None:
    rng = np.random.default_rng(0)
    inputs = np.clip(rng.gamma(2.2, mean / 2.2, 20_000).astype(np.int32) + 2, 2, row)
    targets = np.clip((inputs * rng.normal(1.1, 0.15, 20_000)).astype(np.int32) + 1, 2, row)
    batching = Packed(tokens=16 * row, row=row)
    parts = plan([inputs, targets], np.arange(20_000), batching, Draws(1, 0))
    slots = sum(part.height * row for part in parts)
    assert max(inputs.sum(), targets.sum()) / slots > 0.985


@pytest.mark.parametrize(("row", "least"), [(256, 0.99), (1_024, 0.998), (8_192, 0.999)])
def test_both_sides_of_rows_are_full(row: int, least: float) -> None:
    """Sides of unlike lengths, in rows that hold fewer sentences than a row is filled up from, and
    more; the last batch is not asked."""
    rng = np.random.default_rng(0)
    inputs = np.clip(rng.lognormal(3.1, 0.6, 40_000), 2, 256).astype(np.int32)
    targets = inputs.copy()
    targets[::3] = rng.permutation(targets[::3])  # the same on average
    parts = plan([inputs, targets], np.arange(40_000), Packed(tokens=row, row=row), Draws(1, 0))
    for side in (inputs, targets):
        shares = [side[part.examples].sum() / row for part in parts[: -(4 + 4_096 // row)]]
        assert np.mean(shares) > least


def test_no_example_waits_for_ever() -> None:
    """Who is left over comes first: none is much later than in the order that was drawn."""
    rng = np.random.default_rng(0)
    lengths = [rng.integers(1, 65, 5_000).astype(np.int32) for _ in range(2)]
    batching = Packed(tokens=128, row=128, window=50)
    parts = plan(lengths, np.arange(5_000), batching, Draws(1, 0))
    drawn = {example: place for place, example in enumerate(Draws(1, 0).order(5_000).tolist())}
    planned = [example for part in parts for example in part.examples.tolist()]
    assert max(place - drawn[example] for place, example in enumerate(planned)) < 100


def test_three_features_and_one_can_be_packed_too() -> None:
    rng = np.random.default_rng(0)
    three = [rng.integers(1, 9, 100).astype(np.int32) for _ in range(3)]
    for lengths in (three, three[:1]):
        parts = plan(lengths, np.arange(100), Packed(tokens=32, row=16), Draws(1, 0))
        for part in parts:
            for side in lengths:
                assert np.bincount(part.rows, side[part.examples]).max() <= 16


@settings(max_examples=10)
@given(seed=st.integers(0, 100))
def test_no_token_is_lost_and_no_pair_is_mixed(read_shards: Shards, seed: int) -> None:
    features = ("inputs", "targets")
    lengths = [read_shards.lengths[name] for name in features]
    for batching in BOTH:
        found = set()
        for part in plan(lengths, np.arange(len(read_shards)), batching, Draws(seed, 0)):
            sheets = dict(zip(features, assemble(read_shards, features, part), strict=True))
            assert (sheets["inputs"][0] > 0).sum() == lengths[0][part.examples].sum()
            for row in range(part.height):
                numbers = {name: sheets[name][2, row] for name in features}
                real = set(numbers["inputs"].tolist()) - {0}
                assert (
                    real == set(numbers["targets"].tolist()) - {0} == set(range(1, len(real) + 1))
                )
                for number in real:
                    ids, positions = zip(
                        *(sheets[name][:2, row, numbers[name] == number] for name in features),
                        strict=True,
                    )
                    example = int(ids[0][0] - 1000)
                    whole = read_shards.example(example)
                    assert [side.tolist() for side in ids] == [whole[n].tolist() for n in features]
                    assert all(side.tolist() == list(range(len(side))) for side in positions)
                    assert all(side[-1] == EOS for side in ids)
                    found.add(example)
            for sheet in sheets.values():
                assert (sheet[:, sheet[2] == 0] == 0).all()
        assert found == set(range(len(read_shards)))


@pytest.fixture(scope="module")
def read_shards(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    folder = tmp_path_factory.mktemp("plans")
    rng = np.random.default_rng(5)
    with ShardWriter(folder, "train", ["inputs", "targets"], raw=False) as writer:
        for i in range(60):
            sizes = rng.integers(1, 15, 2)
            writer.write({"inputs": [[1000 + i] * sizes[0]], "targets": [[5000 + i] * sizes[1]]})
    return Shards(folder, "train")

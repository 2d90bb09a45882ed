"""Buckets: the data in stretches of so many words, each batch with those of its own."""

from itertools import islice, pairwise

import numpy as np
import pytest
import torch

from heedful.data.batch import Batch
from heedful.data.batching import Bucketed, Packed
from heedful.data.loader import Loader, evaluation_batches
from heedful.data.recipe import Cursor
from heedful.data.shards import Shards, ShardWriter
from heedful.errors import HeedfulError, UsageError
from heedful.text.specials import PAD

MOST = 40


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Shards:
    folder = tmp_path_factory.mktemp("shards")
    rng = np.random.default_rng(0)
    ids = [rng.zipf(1.3, 9).clip(3, 300).tolist() for _ in range(200)]
    with ShardWriter(folder, "train", ("targets",), raw=False) as writer:
        writer.write({"targets": ids})
    return Shards(folder, "train")


def epoch(shards, batching, workers=0, start=Cursor(), seed=1):
    loader = Loader(shards, ("targets",), batching, seed=seed, parts=1, workers=workers)
    steps = loader.steps(start)
    found = []
    for step in islice(steps, 500):
        found.append((step.cursor, step.parts[0]))
        if step.cursor.part == 0:
            break
    steps.close()
    return found


def words_of(batch) -> tuple[int, ...]:
    assert batch.words is not None and batch.words.ids.shape == (1, MOST)
    ids = batch.words.ids[0]
    assert (ids[batch.words.at.real[0]] != PAD).all() and (
        ids[~batch.words.at.real[0]] == PAD
    ).all()
    return tuple(ids[ids != PAD].tolist())


@pytest.mark.parametrize(
    "batching",
    [Bucketed(tokens=60, words=MOST), Packed(tokens=64, row=16, words=MOST)],
    ids=lambda b: b.kind,
)
def test_a_bucket_has_all_words_of_its_batches_and_ends_before_it_would_have_too_many(
    shards, batching
) -> None:
    batches = [batch for _, batch in epoch(shards, batching)]
    buckets: dict[tuple[int, ...], set[int]] = {}
    order = []
    for batch in batches:
        own = set(batch.targets.ids[batch.targets.at.real].tolist())
        words = words_of(batch)
        assert own <= set(words) and len(words) == len(set(words)) <= MOST
        if words not in buckets:
            order.append((words, own))
        buckets.setdefault(words, set()).update(own)
    assert len(buckets) > 3
    for words, own in buckets.items():
        assert set(words) == own  # no word that none of its batches has
    for (words, _), (_, first) in pairwise(order):
        assert len(set(words) | first) > MOST  # the next batch had no room
    assert max(map(len, buckets)) > MOST // 2


def test_epochs_have_other_buckets_and_workers_and_resuming_the_same(shards) -> None:
    batching = Bucketed(tokens=60, words=MOST)
    alone = [(c, words_of(b)) for c, b in epoch(shards, batching)]
    assert [(c, words_of(b)) for c, b in epoch(shards, batching, workers=2)] == alone
    half = len(alone) // 2
    later = [(c, words_of(b)) for c, b in epoch(shards, batching, start=alone[half - 1][0])]
    assert later == alone[half:]
    second = [words_of(b) for _, b in epoch(shards, batching, start=Cursor(1, 0))]
    assert second != [words for _, words in alone]


def test_words_stay_when_a_batch_is_taken_in_halves(shards) -> None:
    batch = epoch(shards, Bucketed(tokens=60, words=MOST))[0][1].to("cpu")
    half = Batch({name: r.select(torch.arange(2)) for name, r in batch.features.items()})
    assert words_of(half) == words_of(batch) and len(half.targets.ids) == 2
    assert list(batch.sides) == ["targets"]


def test_without_buckets_batches_say_no_words(shards) -> None:
    assert epoch(shards, Bucketed(tokens=60))[0][1].words is None
    assert next(iter(evaluation_batches(shards, ("targets",), 60))).words is None


def test_a_bucket_with_no_room_for_one_batch_is_refused(shards) -> None:
    with pytest.raises(HeedfulError, match=r"batch.words=5 at most. Raise batch.words, or lower"):
        epoch(shards, Bucketed(tokens=60, words=5))
    with pytest.raises(UsageError, match=r"batch.words must be 0"):
        Bucketed(words=-1)

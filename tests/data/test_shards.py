from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heedful.data import shards as shards_module
from heedful.data.shards import Shards, ShardWriter
from heedful.errors import HeedfulError
from heedful.text.specials import EOS
from heedful.text.tagged import Addressed

sequences = st.lists(st.lists(st.integers(3, 99), max_size=6), max_size=12)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequences)
def test_what_is_written_is_read_with_an_end_symbol_after_each(
    tmp_path_factory: pytest.TempPathFactory, ids: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    with ShardWriter(folder, "train", ["targets"], raw=False) as writer:
        for begin in range(0, len(ids), 5):
            writer.write({"targets": ids[begin : begin + 5]})
    read = Shards(folder, "train")
    assert len(read) == len(ids) == writer.examples
    assert [read.example(i)["targets"].tolist() for i in range(len(read))] == [
        [*sequence, EOS] for sequence in ids
    ]
    assert read.lengths["targets"].tolist() == [len(sequence) + 1 for sequence in ids]
    assert writer.tokens["targets"] == sum(read.lengths["targets"])
    assert writer.longest["targets"] == max(read.lengths["targets"], default=0)


def test_a_split_may_lie_in_many_blocks_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards_module, "BLOCK_EXAMPLES", 4)
    monkeypatch.setattr(shards_module, "FILE_TOKENS", 40)
    with ShardWriter(tmp_path, "train", ["inputs", "targets"], raw=False) as writer:
        for i in range(60):
            writer.write({"inputs": [[i] * 3, [i]], "targets": [[i], [i, i]]})
    assert len(list(tmp_path.glob("train-*.arrow"))) > 3
    read = Shards(tmp_path, "train")
    assert len(read) == 120
    order = np.array([119, 0, 57, 57, 8])
    gathered = [i for example in order for i in read.example(int(example))["inputs"].tolist()]
    assert read.gather("inputs", order).tolist() == gathered
    assert read.example(119)["targets"].tolist() == [59, 59, EOS]
    assert read.gather("inputs", np.zeros(0, np.int64)).tolist() == []


def test_raw_text_is_kept_where_asked_for(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, "valid", ["inputs", "targets"], raw=True) as writer:
        writer.write(
            {"inputs": [[5], [6]], "targets": [[7], [8]]},
            {"inputs": ["five", "six"], "targets": ["sept", "huit"]},
        )
    read = Shards(tmp_path, "valid")
    assert read.raw(1) == {"inputs": "six", "targets": "huit"}
    assert read.features == ("inputs", "targets")


def test_the_training_split_says_that_it_keeps_no_text(shards: Shards) -> None:
    with pytest.raises(HeedfulError, match="keeps no raw text"):
        shards.raw(0)


def test_examples_are_not_copied(shards: Shards) -> None:
    assert np.shares_memory(shards.example(3)["inputs"], shards.example(3)["inputs"])
    assert not shards.example(3)["inputs"].flags.owndata


def test_other_programs_can_open_the_files(shards: Shards) -> None:
    table = pa.feather.read_table(next(shards.folder.glob("train-*.arrow")))
    assert table.schema.field("inputs").type == pa.list_(pa.int32())
    assert table.column("targets")[2].as_py() == shards.example(2)["targets"].tolist()


def test_there_is_no_example_beyond_the_last(shards: Shards) -> None:
    with pytest.raises(IndexError, match="example 300 of 300"):
        shards.example(300)


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


@pytest.mark.parametrize("harm", [_cut_short, lambda path: path.write_bytes(b"")])
def test_a_damaged_file_is_named(shards: Shards, harm: Callable[[Path], None]) -> None:
    path = next(shards.folder.glob("train-*.arrow"))
    harm(path)
    with pytest.raises(HeedfulError, match=r"train-00000\.arrow is damaged.*prepare"):
        Shards(shards.folder, "train")


def test_a_split_that_was_not_prepared_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match="no prepared 'test' split"):
        Shards(tmp_path, "test")


def test_a_writer_that_fails_leaves_its_file_closed(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, "train", ["targets"], raw=False)
    with pytest.raises(RuntimeError), writer:
        for _ in range(3):
            writer.write({"targets": [[5]] * 20_000})
        raise RuntimeError
    with pytest.raises(HeedfulError, match="damaged"):
        Shards(tmp_path, "train")


def test_a_mixture_keeps_of_each_example_whose_it_is_and_where_its_source_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards_module, "BLOCK_EXAMPLES", 2)
    tags = {"de_en": "en", "fr": "fr", "cs_en": "en"}
    members = ["fr", "cs_en", "fr", "de_en", "fr"]
    with ShardWriter(tmp_path, "test", ["inputs", "targets"], raw=True, tags=tags) as writer:
        for i, label in enumerate(members):
            raw = {"inputs": [f"source {i}"], "targets": [f"target {i}"]}
            writer.write({"inputs": [[9, 3]], "targets": [[4]]}, raw, [label])
    assert writer.members == {"de_en": 1, "fr": 3, "cs_en": 1}
    read = Shards(tmp_path, "test")
    assert read.features == ("inputs", "targets") and read.labels == tuple(tags)
    assert read.members is not None
    assert [read.labels[number] for number in read.members] == members
    for i, label in enumerate(members):
        source, target = read.raw(i)["inputs"], read.raw(i)["targets"]
        assert source == f"source {i}" and isinstance(source, Addressed)
        assert source.to == tags[label] and type(target) is str
    frame = pa.feather.read_table(tmp_path / "test-00000.arrow")
    assert frame.column("member").to_pylist() == [1, 2, 1, 0, 1]


def test_what_is_no_mixture_has_no_members(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, "test", ["targets"], raw=True) as writer:
        writer.write({"targets": [[4]]}, {"targets": ["a"]})
    read = Shards(tmp_path, "test")
    assert read.members is None and read.labels == read.tags == ()
    assert type(read.raw(0)["targets"]) is str
    assert pa.feather.read_table(tmp_path / "test-00000.arrow").column_names == [
        "targets",
        "targets_text",
    ]

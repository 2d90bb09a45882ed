"""Prepared examples on disk: plain Arrow IPC files, one list<int32> column a feature.

Those of a mixture have one more, an int16 that says which member each example is of; the members'
labels and tags stand in the metadata of the schema.

They are read memory-mapped, so a corpus of any size opens at once and its pages are shared by
every process that reads it. `pandas.read_feather` and DuckDB open them too.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from heedful.errors import HeedfulError
from heedful.text.specials import EOS
from heedful.text.tagged import Addressed

Ints = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]

BLOCK_EXAMPLES = 32_768  # a block (an Arrow record batch) is written at whichever comes first
BLOCK_TOKENS = 1_000_000
FILE_TOKENS = 128_000_000  # a new file is begun when one holds so many: about half a gigabyte
_TEXT = "_text"  # inputs_text is the raw form of inputs
_MEMBER = "member"
_MEMBERS = b"heedful.members"  # in the schema's metadata: [[label, tag], ...] as JSON


class ShardWriter:
    """Writes one split, block by block; memory holds one block.

    `tags` are those of a mixture's members, by label.
    """

    def __init__(
        self,
        folder: Path,
        split: str,
        features: Sequence[str],
        raw: bool,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.split = split
        self.features = tuple(features)
        self.raw = raw
        self.members = dict.fromkeys(tags or (), 0)  # examples of each
        self.examples = 0
        self.tokens = dict.fromkeys(self.features, 0)
        self.longest = dict.fromkeys(self.features, 0)
        columns: list[tuple[str, pa.DataType]] = [(f, pa.list_(pa.int32())) for f in self.features]
        if raw:
            columns += [(f + _TEXT, pa.string()) for f in self.features]
        about = None
        if tags:
            columns.append((_MEMBER, pa.int16()))
            about = {_MEMBERS: json.dumps(list(tags.items())).encode()}
        self._schema = pa.schema(columns, metadata=about)
        self._file: pa.NativeFile | None = None
        self._writer: pa.RecordBatchFileWriter | None = None
        self._files = 0
        self._in_file = 0
        self._blocks: list[pa.RecordBatch] = []

    def write(
        self,
        ids: dict[str, list[list[int]]],
        raw: dict[str, list[str]] | None = None,
        members: Sequence[str] = (),
    ) -> None:
        """Add examples, column by column, without their end symbols: those are added here.

        `members` are the labels of those that the examples are of.
        """
        columns: list[pa.Array] = []
        for feature in self.features:
            lengths, values = _with_ends(ids[feature])
            offsets = np.zeros(len(lengths) + 1, np.int32)
            np.cumsum(lengths, out=offsets[1:])
            columns.append(pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)))
            self.tokens[feature] += len(values)
            self.longest[feature] = max(self.longest[feature], int(lengths.max(initial=0)))
        if self.raw:
            texts = raw or {}
            columns += [pa.array(texts[feature], pa.string()) for feature in self.features]
        if self.members:
            numbers = {label: number for number, label in enumerate(self.members)}
            columns.append(pa.array([numbers[label] for label in members], pa.int16()))
            for label in members:
                self.members[label] += 1
        self._blocks.append(pa.record_batch(columns, schema=self._schema))
        self.examples += self._blocks[-1].num_rows
        waiting = sum(block.num_rows for block in self._blocks)
        if waiting >= BLOCK_EXAMPLES or sum(map(self._size, self._blocks)) >= BLOCK_TOKENS:
            self._flush()

    def close(self) -> None:
        """Write what is waiting. An empty split is a file without rows."""
        if self._blocks or self._files == 0:
            self._flush()
        self._end_file()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        elif self._file is not None:
            self._file.close()

    def _flush(self) -> None:
        if self._writer is None:
            path = self.folder / f"{self.split}-{self._files:05d}.arrow"
            self._file = pa.OSFile(str(path), "wb")
            self._writer = pa.ipc.new_file(self._file, self._schema)
            self._files += 1
            self._in_file = 0
        if self._blocks:
            block = pa.concat_batches(self._blocks)
            self._writer.write_batch(block)
            self._in_file += self._size(block)
            self._blocks = []
        if self._in_file >= FILE_TOKENS:
            self._end_file()

    def _end_file(self) -> None:
        if self._writer is not None and self._file is not None:
            self._writer.close()
            self._file.close()
        self._writer = self._file = None

    def _size(self, block: pa.RecordBatch) -> int:
        return sum(len(block.column(feature).values) for feature in self.features)


class Shards:
    """One prepared split: example `i` by number, without reading the rest.

    Worker processes open their own by `folder` and `split`.
    """

    def __init__(self, folder: Path, split: str) -> None:
        self.folder = Path(folder)
        self.split = split
        paths = sorted(self.folder.glob(f"{split}-*.arrow"))
        if not paths:
            raise HeedfulError(
                f"no prepared '{split}' split in {self.folder}: prepare the problem first"
            )
        self._blocks: list[pa.RecordBatch] = []
        for path in paths:
            self._blocks += _read(path)
        schema = self._blocks[0].schema
        names = [n for n in schema.names if not n.endswith(_TEXT) and n != _MEMBER]
        self.features: tuple[str, ...] = tuple(names)
        self._values: dict[str, list[Ints]] = {name: [] for name in names}
        self._offsets: dict[str, list[Ints]] = {name: [] for name in names}
        for block in self._blocks:
            for name in names:
                column = block.column(name)
                self._values[name].append(column.values.to_numpy())
                self._offsets[name].append(column.offsets.to_numpy())
        self._starts: Indices = np.cumsum([0] + [block.num_rows for block in self._blocks])
        self.lengths: dict[str, Ints] = {
            name: np.concatenate([np.diff(offsets) for offsets in self._offsets[name]])
            for name in names
        }
        about = json.loads((schema.metadata or {}).get(_MEMBERS, b"[]"))
        self.labels: tuple[str, ...] = tuple(label for label, _ in about)  # of a mixture's members
        self.tags: tuple[str, ...] = tuple(tag for _, tag in about)
        self.members: npt.NDArray[np.int16] | None = None  # which of them each example is of
        if about:
            columns = [block.column(_MEMBER).to_numpy() for block in self._blocks]
            self.members = np.concatenate(columns)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def example(self, index: int) -> dict[str, Ints]:
        """The ids of one example, each feature ended by the end symbol; not copied."""
        block, row = self._find(index)
        return {name: self._slice(name, block, row) for name in self.features}

    def gather(self, feature: str, indices: Indices) -> Ints:
        """The ids of one feature of many examples, one after the other in one array."""
        blocks = np.searchsorted(self._starts, indices, side="right") - 1
        rows = indices - self._starts[blocks]
        pieces = [
            self._slice(feature, block, row)
            for block, row in zip(blocks.tolist(), rows.tolist(), strict=True)
        ]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int32)

    def raw(self, index: int) -> dict[str, str]:
        """The text of one example as it came; kept for every split but the one trained on.

        Of a mixture, the source is addressed to the language that it goes to.
        """
        block, row = self._find(index)
        columns = self._blocks[block]
        if self.features[0] + _TEXT not in columns.schema.names:
            raise HeedfulError(
                f"the '{self.split}' split keeps no raw text, only ids: decode those"
            )
        texts = {name: columns.column(name + _TEXT)[row].as_py() for name in self.features}
        if self.members is not None:
            source = self.features[0]
            texts[source] = Addressed(texts[source], self.tags[self.members[index]])
        return texts

    def _slice(self, name: str, block: int, row: int) -> Ints:
        offsets = self._offsets[name][block]
        return self._values[name][block][offsets[row] : offsets[row + 1]]

    def _find(self, index: int) -> tuple[int, int]:
        if not 0 <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        block = int(np.searchsorted(self._starts, index, side="right")) - 1
        return block, index - int(self._starts[block])


def _with_ends(sequences: list[list[int]]) -> tuple[Indices, Ints]:
    """Lengths, and all ids in a row, with an end symbol after each sequence."""
    count = len(sequences)
    lengths = np.fromiter(map(len, sequences), np.int64, count)
    total = int(lengths.sum())
    flat = np.fromiter(chain.from_iterable(sequences), np.int32, total)
    values = np.full(total + count, EOS, np.int32)
    values[np.arange(total) + np.repeat(np.arange(count), lengths)] = flat
    return lengths + 1, values


def _read(path: Path) -> list[pa.RecordBatch]:
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        blocks = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    except (pa.ArrowInvalid, OSError) as error:
        raise HeedfulError(
            f"{path} is damaged ({error}). Delete its folder and prepare the problem again"
        ) from error
    return blocks or [pa.RecordBatch.from_pylist([], schema=reader.schema)]

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from heedful.data.replay import Replay
from heedful.problems.base import Example

EXAMPLES: list[Example] = [{"inputs": f"é\u2028{i}", "targets": [i, 0]} for i in range(9)]


def made(count: list[int]) -> Iterator[Example]:
    for example in EXAMPLES:
        count[0] += 1
        yield example


def test_every_reader_begins_at_the_beginning_and_each_example_is_made_once(tmp_path: Path) -> None:
    count = [0]
    replay = Replay(made(count), tmp_path / "kept")
    assert list(replay.first(3)) == EXAMPLES[:3]
    assert list(islice(replay.first(6), 5)) == EXAMPLES[:5]
    assert list(replay.first(2)) == EXAMPLES[:2]
    assert count == [5]
    assert list(replay.all()) == EXAMPLES
    assert count == [9] and not (tmp_path / "kept").exists()


def test_a_short_stream_gives_what_it_has(tmp_path: Path) -> None:
    replay = Replay(iter(EXAMPLES), tmp_path / "kept")
    assert list(replay.first(100)) == list(replay.first(100)) == EXAMPLES
    assert list(replay.all()) == EXAMPLES

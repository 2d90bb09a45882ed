"""How lines are shared out among processes."""

from hypothesis import given
from hypothesis import strategies as st

from heedful.decoding import hands
from heedful.decoding.hands import BLOCK, _blocks, cores


@given(st.integers(0, 5_000), st.integers(1, 7))
def test_every_line_is_in_one_block_by_its_number(lines: int, count: int) -> None:
    found = list(_blocks(map(str, range(lines)), count))
    assert [text for _, texts in found for text in texts] == [str(n) for n in range(lines)]
    assert all(texts[0] == str(first) and len(texts) <= BLOCK for first, texts in found)


def test_few_lines_are_shared_out_evenly() -> None:
    assert [len(texts) for _, texts in _blocks(iter(["x"] * 10), 4)] == [3, 3, 3, 1]
    assert [len(texts) for _, texts in _blocks(iter(["x"] * 2), 4)] == [1, 1]


def test_there_is_a_core(monkeypatch) -> None:
    assert cores() >= 1
    monkeypatch.delattr(hands.os, "sched_getaffinity", raising=False)
    assert cores() >= 1

"""A slate whose rows are traced holds what one holds whose rows are moved."""

import pytest
import torch

from heedful.nn.layout import Layout
from heedful.nn.memory import Memory
from heedful.nn.slate import Slate

ROWS, LENGTH = 4, 8


def grown() -> Memory:
    """A memory after two tokens: two rooms, a layout and a state."""
    memory = Memory()
    for token in range(2):
        step(memory, token)
    return memory


def step(memory: Memory, token: int, rows: int = ROWS) -> list[torch.Tensor]:
    """One more token in all rooms; what they then hold."""
    at = Layout(torch.full((rows, 1), token), torch.randint(1, 3, (rows, 1)))
    seen = memory.see(at)
    found = [seen.positions, seen.segments]
    for room in "ab":
        x = torch.randn(rows, 3, 1, 5)
        found += memory[room].extend(x, x[:, 0], dims=(2, 1))
    memory["state"].keep(memory["state"].recall(lambda: torch.zeros(rows)) + torch.randn(rows))
    memory["source"].once(lambda: torch.randn(rows, 2))
    if isinstance(memory, Slate):
        memory.advance()
    return found


def test_rows_that_are_traced_hold_what_rows_that_are_moved_hold() -> None:
    torch.manual_seed(0)
    before = grown()
    moved, traced = (
        Slate(before, ROWS, ROWS, LENGTH, traced=is_traced) for is_traced in (False, True)
    )
    for slate in (moved, traced):
        slate.load(before, 2, rows=torch.tensor([2, 0, 0, 3]))
    for token in range(2, LENGTH):
        order = torch.randint(0, ROWS, (ROWS,))
        found = []
        for slate in (moved, traced):
            slate.reorder(order)
            torch.manual_seed(token)
            found.append(step(slate, token))
        for one, other in zip(*found, strict=True):
            assert torch.equal(one, other)
        assert torch.equal(moved["state"].recall(Memory), traced["state"].recall(Memory))


def test_a_layout_is_marked_where_it_is_written_and_seen_where_it_belongs() -> None:
    before = grown()
    slate = Slate(before, ROWS, ROWS, LENGTH, traced=True)
    slate.load(before, 2)
    for token, order in ((2, [0, 1, 2, 3]), (3, [1, 0, 3, 2])):
        slate.reorder(torch.tensor(order))
        at = Layout(torch.full((ROWS, 1), token), torch.arange(1, ROWS + 1)[:, None])
        marked, seen = slate["a"].mark(at), slate["b"].see(at).segments
        slate.advance()
    assert marked[:, 2:4].tolist() == [[1, 1], [2, 2], [3, 3], [4, 4]]
    assert seen[:, 2:4].tolist() == [[2, 1], [1, 2], [4, 3], [3, 4]]


@pytest.mark.parametrize("is_traced", [False, True])
def test_what_is_traced_can_be_loaded_elsewhere(is_traced: bool) -> None:
    torch.manual_seed(1)
    before = grown()
    slates = [Slate(before, ROWS, ROWS, LENGTH, traced=t) for t in (False, True)]
    for slate in slates:
        slate.load(before, 2)
        torch.manual_seed(2)
        for token in range(2, 5):
            slate.reorder(torch.tensor([3, 3, 1, 0]))
            step(slate, token)
    found = []
    for slate in slates:
        fewer = Slate(slate, 2, ROWS, 2 * LENGTH, traced=is_traced)
        fewer.load(slate, 5, rows=torch.tensor([1, 3]))
        torch.manual_seed(3)
        found.append(step(fewer, 5, rows=2))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)

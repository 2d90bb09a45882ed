"""What a slate holds lies in few pieces, which are moved at once, and is what it was told."""

import math

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from heedful.nn.feed_forward import FeedForward
from heedful.nn.layout import Layout
from heedful.nn.memory import Memory
from heedful.nn.slate import Slate, tensors
from heedful.nn.stacks import parts

ROWS, LENGTH = 4, 8


def step(memory: Memory, rooms: int = 2, rows: int = ROWS) -> None:
    """One more token in so many rooms."""
    memory.see(Layout(torch.zeros(rows, 1).long(), torch.ones(rows, 1).long()))
    for room in range(rooms):
        x = torch.randn(rows, 3, 1, 5)
        memory[room].extend(x, x, dims=(2, 2))
        memory[room].keep((torch.randn(rows, 2), torch.randn(rows, 2)))
        memory[room]["source"].once(lambda: torch.randn(2, 7))


def filled(rooms: int = 2) -> Memory:
    memory = Memory()
    step(memory, rooms)
    return memory


class Launches(TorchDispatchMode):
    """Counts what a GPU would be given to do."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += not func.is_view and "empty" not in str(func)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("is_traced", [False, True])
def test_however_many_rooms_there_are_they_are_moved_at_once(is_traced: bool) -> None:
    counts = []
    for rooms in (1, 6):
        one, other = (
            Slate(filled(rooms), ROWS, 2, length, traced=is_traced) for length in (LENGTH, 16)
        )
        order = torch.tensor([1, 0, 3, 3])
        with torch.no_grad(), Launches() as moves:
            other.load(one, 3, order, torch.tensor([1, 0]))
            other.reorder(order)
        counts.append(moves.count)
    assert counts[0] == counts[1]


@pytest.mark.parametrize("length", [1, 3])
def test_a_slate_that_is_loaded_holds_what_the_memory_held(length: int) -> None:
    torch.manual_seed(0)
    memory = filled()
    for _ in range(length - 1):
        step(memory)
    rows, sources = torch.tensor([2, 0, 1]), torch.tensor([1])
    slate = Slate(memory, 3, 1, LENGTH)
    for part in tensors(slate):
        part.fill_(7)
    slate.load(memory, length, rows, sources)
    wanted = {part.path: part for part in parts(memory)}
    for path, kind, dim, found in parts(slate):
        held = wanted[path].tensor[sources if kind == "once" else rows]
        if dim is not None:
            assert not found.narrow(dim, length, LENGTH - length).any()
            found, held = (x.narrow(dim, 0, length) for x in (found, held))
        assert torch.equal(found, held)


def test_what_was_no_number_is_not_left_where_nobody_wrote_yet() -> None:
    slate = Slate(filled(), ROWS, 2, LENGTH)
    for part in parts(slate):
        if part.tensor.is_floating_point():
            part.tensor.fill_(math.nan)
    slate.load(filled(), 1)
    assert not any(part.isnan().any() for part in tensors(slate))


def test_what_was_kept_may_be_kept_again_in_another_place() -> None:
    memory = Memory()
    memory.see(Layout(torch.zeros(2, 1).long(), torch.ones(2, 1).long()))
    memory["pair"].keep((torch.tensor([1, 2]), torch.tensor([3, 4])))
    memory["wide"].keep(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    memory["first"].keep(torch.tensor([[0], [0]]))
    for rows in (None, torch.tensor([1, 0])):
        slate = Slate(memory, 2, 2, LENGTH)
        slate.load(memory, 1)
        one, other = slate["pair"].recall(Memory)
        slate["pair"].keep((other, one))
        wide = slate["wide"].recall(Memory)
        slate["wide"].keep(torch.cat([wide[:, 1:], wide[:, :1]], 1))
        slate["first"].keep(wide[:, :1])
        assert one.tolist() == [1, 2]  # still there for those who read it
        assert slate["pair"].recall(Memory)[0].tolist() == [3, 4]  # and this is what comes
        slate.advance(rows)
        kept = [slate[name].recall(Memory) for name in ("wide", "first")]
        for found, wanted in zip(
            (*slate["pair"].recall(Memory), *kept),
            ([3, 4], [1, 2], [[2, 3, 1], [5, 6, 4]], [[1], [4]]),
            strict=True,
        ):
            assert found.tolist() == (wanted if rows is None else wanted[::-1])


def test_what_is_kept_alone_may_be_a_part_of_itself() -> None:
    memory = Memory()
    memory["state"].keep(torch.arange(4))
    slate = Slate(memory, 4, 4, LENGTH)
    slate.load(memory, 0)
    state: Tensor = slate["state"].recall(Memory)
    slate["state"].keep(state)
    slate.advance(torch.tensor([3, 2, 1, 0]))
    assert slate["state"].recall(Memory).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("is_traced", [False, True])
def test_rows_put_in_order_after_a_token_are_as_if_before_the_next(is_traced: bool) -> None:
    torch.manual_seed(1)
    before, found = filled(), []
    orders = [torch.tensor(order) for order in ([1, 0, 3, 3], [0, 0, 2, 3], [1, 1, 3, 2])]
    for late in (False, True):
        slate = Slate(before, ROWS, 2, LENGTH, traced=is_traced)
        slate.load(before, 1)
        torch.manual_seed(2)
        for order in orders:
            step(slate)
            slate.advance(None if late else order)
            if late:
                slate.reorder(order)
        at = Layout(torch.zeros(ROWS, 1).long(), torch.ones(ROWS, 1).long())
        seen = slate.see(at)
        x = torch.zeros(ROWS, 3, 1, 5)
        found.append([seen.positions, seen.segments, *slate[1].extend(x, x, dims=(2, 2))])
        found[-1] += slate[0].recall(Memory)
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_a_token_goes_through_the_feed_forward_part_as_all_do() -> None:
    torch.manual_seed(3)
    part = FeedForward(8, 16).eval()
    torch.nn.init.normal_(part.inner.bias)
    x = torch.randn(5, 1, 8)
    with torch.inference_mode():
        assert torch.equal(part.step(x), part(x))

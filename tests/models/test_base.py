"""Where a search stands, as a model is told."""

import torch

from heedful.models.base import following
from heedful.nn.memory import Memory
from heedful.nn.slate import Slate

IDS = torch.zeros(2, 3, dtype=torch.long)


def begun() -> Memory:
    memory = Memory()
    memory["at"].keep(IDS.new_zeros(len(IDS)))
    return memory


def test_the_place_that_all_rows_have_come_to_is_known_as_a_number() -> None:
    memory = begun()
    first, second = following(IDS[:, :1], memory), following(IDS, memory)
    memory.select(torch.tensor([1, 0, 0]))
    third = following(IDS[[0, 0, 0], :1], memory)
    assert [at.start for at in (first, second, third)] == [0, 1, 4]
    for at in (first, second, third):
        assert at.start == int(at.positions[0, 0]) and bool((at.segments == 1).all())


def test_where_rows_wait_at_the_last_place_it_is_not() -> None:
    memory = begun()
    starts = [following(IDS[:, :2], memory, longest=5).start for _ in range(3)]
    assert starts == [0, 2, None]


def test_rows_of_prompts_and_recorded_steps_count_for_themselves() -> None:
    memory = Memory()
    memory["at"].keep(torch.tensor([3, 1]))
    at = following(IDS[:, :1], memory)
    assert at.start is None and at.positions.tolist() == [[3], [1]]
    slate = Slate(begun(), 2, 2, 4)
    slate.load(begun(), 0)
    for place in range(2):
        slate.forget()
        at = following(IDS[:, :1], slate)
        assert at.start is None and at.positions.tolist() == [[place]] * 2
        slate.advance()

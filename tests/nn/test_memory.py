import torch

from heedful.nn.layout import Layout, line, ragged
from heedful.nn.memory import FORGET, Memory


def test_extend_gives_back_all_there_is_so_far_however_it_was_cut() -> None:
    x = torch.randn(2, 50, 3)
    for cuts in ([50], [1] * 50, [20, 1, 29]):
        memory = Memory()
        for piece in x.split(cuts, 1):
            (whole,) = memory.extend(piece, dims=(1,))
        assert torch.equal(whole, x)


def test_once_makes_a_thing_once() -> None:
    memory, made = Memory(), []
    for _ in range(3):
        memory["source"].once(lambda: made.append(1) or "thing")
    assert made == [1]


def test_recall_gives_the_default_until_something_is_kept() -> None:
    memory = Memory()
    assert memory.recall(lambda: 7) == 7
    memory.keep((torch.ones(2), 8 * torch.ones(2)))
    assert memory.recall(lambda: 7)[1][0] == 8


def test_layers_of_one_pass_share_the_layout_of_what_was_seen() -> None:
    memory, at = Memory(), line(3, batch=2)
    assert memory[0].see(at) is memory[1].see(at)
    later = memory["body"][0].see(line(1, 3, batch=2))
    assert later.positions.tolist() == [[0, 1, 2, 3]] * 2


def test_what_was_seen_from_the_first_place_on_without_padding_is_known() -> None:
    memory = Memory()
    assert memory.see(line(3, batch=2)).start == 0
    memory.reorder(torch.tensor([1, 1, 0]))
    assert memory.see(line(1, 3, batch=3)).start == 0
    for first in (ragged([3, 2]), line(3, 1, batch=2)):  # a row with padding; one that began before
        memory = Memory()
        assert memory.see(first).start is None
        assert memory.see(line(1, 2, batch=2)).start is None


def test_select_reorders_widens_and_drops_in_every_room() -> None:
    memory = Memory()
    rows = torch.arange(3.0)[:, None]
    memory[0].extend(rows, dims=(1,))
    memory[1]["deep"].keep({"h": rows, "more": [rows]})
    memory["source"].once(lambda: (rows, Layout(rows.long(), rows.long())))
    memory.select(torch.tensor([2, 2, 0, 1]))
    (grown,) = memory[0].extend(torch.zeros(4, 1), dims=(1,))
    assert grown[:, 0].tolist() == [2, 2, 0, 1]
    assert memory[1]["deep"].recall(dict)["more"][0][:, 0].tolist() == [2, 2, 0, 1]
    kept, layout = memory["source"].once(tuple)
    assert kept[:, 0].tolist() == layout.segments[:, 0].tolist() == [2, 2, 0, 1]


def test_reorder_leaves_what_was_read_from_the_source_where_it_is() -> None:
    memory = Memory()
    rows = torch.arange(3)[:, None]
    memory["source"].once(lambda: rows)
    memory["state"].keep(rows)
    memory.reorder(torch.tensor([1, 0, 2]))
    assert memory["source"].once(tuple) is rows
    assert memory["state"].recall(tuple)[:, 0].tolist() == [1, 0, 2]


def test_forget_keeps_nothing() -> None:
    x, at = torch.ones(1, 2), line(2)
    assert FORGET[0]["deep"] is FORGET
    for _ in range(2):
        assert FORGET.extend(x, dims=(1,))[0] is x
        assert FORGET.see(at) is at
    FORGET.keep(x)
    assert FORGET.recall(lambda: 0) == 0
    assert FORGET.once(lambda: 5) == 5


def test_what_cannot_be_reordered_is_named() -> None:
    memory = Memory()
    memory.keep(object())
    try:
        memory.select(torch.tensor([0]))
    except TypeError as error:
        assert "object" in str(error)
    else:
        raise AssertionError("an object was reordered")


def test_sources_may_leave_while_outputs_stay_and_outputs_widen_while_sources_stay() -> None:
    memory = Memory()
    memory["source"].once(lambda: torch.arange(3)[:, None])
    memory["state"].keep(torch.arange(3)[:, None])
    memory.reorder(torch.tensor([0, 0, 1, 1, 2, 2]))
    assert len(memory["source"].once(tuple)) == 3 and len(memory["state"].recall(tuple)) == 6
    memory.select_sources(torch.tensor([0, 2]))
    assert memory["source"].once(tuple)[:, 0].tolist() == [0, 2]
    assert len(memory["state"].recall(tuple)) == 6


def test_what_is_read_at_every_step_lies_in_one_piece() -> None:
    made = Memory().once(lambda: (torch.zeros(3, 4).T, (torch.zeros(5, 6).T,)))
    assert made[0].is_contiguous() and made[1][0].is_contiguous()

"""Recurrent layers on rows of every layout, and their dropout."""

import pytest
import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.nn.cells import GRU, LSTM, Cell
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.memory import Memory
from heedful.nn.recurrent import (
    Bidirectional,
    Dropout,
    Recurrent,
    RecurrentStack,
    backwards,
    mirrored,
)
from heedful.nn.recurrent_encoder import RecurrentEncoder

CELLS = [LSTM(), GRU(), GRU(reset="before")]
LENGTHS = (4, 1, 0, 6)


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.double)


def packed() -> Layout:
    """Rows with the sequences aab, then one apart in two pieces, then padding between."""
    return Layout(
        torch.tensor([[0, 1, 0, 1, 2], [0, 0, 1, 2, 0], [0, 0, 1, 0, 2]]),
        torch.tensor([[1, 1, 2, 2, 2], [1, 2, 1, 1, 0], [1, 0, 1, 2, 1]]),
    )


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_ragged_batch_gives_what_each_sequence_gives_alone(cell: Cell) -> None:
    layer, x = Bidirectional(cell, 3, 5).double(), noise(4, 6, 3)
    out, end, beginning = layer(x, ragged(LENGTHS))
    for row, length in enumerate(LENGTHS):
        mine, here, there = layer(x[row : row + 1, :length], line(length))
        torch.testing.assert_close(out[row, :length], mine[0], atol=1e-12, rtol=0)
        for ours, theirs in ((end, here), (beginning, there)):
            torch.testing.assert_close(
                [part[row] for part in ours], [part[0] for part in theirs], atol=1e-12, rtol=0
            )


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_reading_backwards_is_reading_what_was_turned_round(cell: Cell) -> None:
    layer, x = Bidirectional(cell, 3, 5).double(), noise(2, 6, 3)
    layer.backwards.load_state_dict(layer.forwards.state_dict())
    ahead, back = layer(x, line(6, batch=2))[0].chunk(2, -1)
    turned = layer(x.flip(1), line(6, batch=2))[0].chunk(2, -1)[0]
    torch.testing.assert_close(back, turned.flip(1), atol=1e-12, rtol=0)
    assert (ahead - back).abs().max() > 1e-3


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_sequences_of_a_packed_row_each_begin_and_end_by_themselves(cell: Cell) -> None:
    at, layer = packed(), Recurrent(cell, 3, 5).double()
    x = noise(3, 5, 3)
    start = tuple(noise(3, 3, 5) for _ in range(layer.gates.states))
    out, end = layer(x, at, start)
    for row in range(3):
        for number in (1, 2):
            there = at.segments[row] == number
            begin = tuple(part[row : row + 1, number : number + 1] for part in start)
            alone, last = layer(x[row, there][None], line(int(there.sum())), begin)
            torch.testing.assert_close(out[row, there], alone[0], atol=1e-12, rtol=0)
            torch.testing.assert_close(
                [part[row, number] for part in end], [p[0, 0] for p in last], atol=1e-12, rtol=0
            )


def test_a_sequence_that_is_not_in_its_row_ends_as_it_began() -> None:
    at = Layout(torch.tensor([[0, 1, 0], [0, 1, 2]]), torch.tensor([[1, 1, 2], [1, 1, 1]]))
    layer, start = Recurrent(GRU(), 3, 5).double(), (noise(2, 3, 5),)
    ((end,),) = (layer(noise(2, 3, 3), at, start)[1],)
    assert torch.equal(end[1, 2], start[0][1, 2]) and not torch.equal(end[0, 2], start[0][0, 2])


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_padding_between_tokens_is_stepped_over(cell: Cell) -> None:
    at = Layout(torch.tensor([[0, 0, 1, 2, 0]]), torch.tensor([[1, 0, 1, 1, 0]]))
    assert at.filling == "single"
    layer, x = Recurrent(cell, 3, 5).double(), noise(1, 5, 3)
    out, end = layer(x, at)
    alone, last = layer(x[:, [0, 2, 3]], line(3))
    torch.testing.assert_close(out[:, [0, 2, 3]], alone, atol=1e-12, rtol=0)
    torch.testing.assert_close([p[:, -1] for p in end], [p[:, 0] for p in last], atol=1e-12, rtol=0)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_who_does_not_ask_for_the_end_is_told_the_same_of_every_token(cell: Cell) -> None:
    between = Layout(torch.tensor([[0, 0, 1, 0]]), torch.tensor([[0, 1, 1, 0]]), filled="single")
    for at in (ragged(LENGTHS), between):
        layer, x = Bidirectional(cell, 3, 5).double(), noise(*at.segments.shape, 3)
        x.requires_grad_()
        outs = [layer(x, at, ends=ends)[0][at.real] for ends in (True, False)]
        torch.testing.assert_close(*outs, atol=1e-12, rtol=0)
        slopes = [torch.autograd.grad(out.square().sum(), x)[0] for out in outs]
        torch.testing.assert_close(*slopes, atol=1e-12, rtol=0)
        kept = [Memory(), Memory()]
        for memory, ends in zip(kept, (True, False), strict=True):
            layer.forwards(x, at, None, memory, ends)
        assert all(map(torch.equal, *(memory.recall(tuple) for memory in kept)))


def test_the_gradient_of_padding_is_zero() -> None:
    encoder = RecurrentEncoder(LSTM(), 3, 5, 2, "both").double()
    x, at = noise(4, 6, 3).requires_grad_(), ragged(LENGTHS)
    found = encoder(x, at)
    loss = found.x[at.real].square().sum() + sum(p.square().sum() for e in found.ends for p in e)
    (gradient,) = torch.autograd.grad(loss, x)
    assert gradient[~at.real].abs().sum() == 0
    assert (gradient[at.real].abs().sum(-1) > 0).all()


def test_mirroring_is_within_each_sequence_and_twice_is_nothing() -> None:
    at = Layout(torch.tensor([[0, 1, 2, 0, 1, 0]]), torch.tensor([[1, 1, 1, 2, 2, 0]]))
    assert mirrored(at).tolist() == [[2, 1, 0, 4, 3, 5]]
    x = noise(1, 6, 2)
    assert torch.equal(backwards(backwards(x, at), at), x)


def test_permuting_padding_changes_nothing_that_is_read_backwards() -> None:
    encoder = RecurrentEncoder(LSTM(), 3, 5, 1, "backward").double()
    x, at = noise(1, 6, 3), ragged([3], 6)
    other = x[:, [0, 1, 2, 5, 3, 4]]
    for ours, theirs in zip(encoder(x, at).ends[0], encoder(other, at).ends[0], strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_what_is_remembered_does_not_grow(cell: Cell) -> None:
    stack, memory = RecurrentStack(cell, 3, 5, 2).double(), Memory()
    sizes = set()
    for step in range(5):
        stack(noise(2, 1, 3), line(1, start=step, batch=2), None, memory)
        kept = [memory[layer].recall(lambda: ()) for layer in range(2)]
        sizes.add(sum(part.numel() for state in kept for part in state))
    assert sizes == {2 * 2 * 5 * (2 if isinstance(cell, LSTM) else 1)}


def test_dropout_with_one_mask_drops_the_same_units_at_every_step() -> None:
    x = torch.ones(4, 30, 8)
    for one_mask in (True, False):
        dropped = Dropout(0.5, one_mask)(x) == 0
        assert bool((dropped == dropped[:, :1]).all()) is one_mask
        assert 0.3 < dropped.float().mean() < 0.7
    assert torch.equal(Dropout(0.5).eval()(x), x)


def test_dropout_is_between_layers_and_not_between_steps() -> None:
    """With everything between layers dropped but nothing inside one, a layer still remembers."""
    stack = RecurrentStack(LSTM(), 3, 5, 1, dropout=0.9, one_mask=True)
    x = torch.zeros(1, 4, 3)
    start = (torch.zeros(1, 1, 5), torch.ones(1, 1, 5))
    assert torch.equal(stack(x, line(4), (start,))[0], stack.eval()(x, line(4), (start,))[0])


def test_residuals_pass_the_input_of_layers_that_say_nothing() -> None:
    stack = RecurrentStack(LSTM(), 5, 5, 4, residual_from=3).double()
    x = noise(2, 6, 5)
    below = RecurrentStack(LSTM(), 5, 5, 2).double()
    below.load_state_dict({k: v for k, v in stack.state_dict().items() if k[7] in "01"})
    with torch.no_grad():
        for layer in stack.layers[2:]:
            for weight in layer.parameters():
                weight.zero_()
    at = line(6, batch=2)
    assert torch.equal(stack(x, at)[0], below(x, at)[0])


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(UsageError, match="1 layer or more, got 0"):
        RecurrentStack(LSTM(), 3, 5, 0)
    with pytest.raises(UsageError, match="1 number or more, got 0"):
        Recurrent(LSTM(), 3, 0)
    with pytest.raises(UsageError, match="reads 3 numbers and puts out 5"):
        RecurrentStack(LSTM(), 3, 5, 2, residual_from=1)
    with pytest.raises(UsageError, match="less than 1, got 1"):
        Dropout(1.0)

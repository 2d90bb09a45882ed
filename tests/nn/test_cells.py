"""Recurrent cells against a plain loop, against torch.nn, and against what they are built to do."""

import pytest
import torch
from torch import Tensor, nn

from heedful.nn.cells import GRU, LSTM, Cell, Gates, State

CELLS = [
    LSTM(),
    *(GRU(reset=r, update=u) for r in ("after", "before") for u in ("keep", "renew")),
]
FUSED = [cell for cell in CELLS if cell.build(1, 1).fused]


def built(cell: Cell, inside: int = 5, dim: int = 7) -> Gates:
    gates = cell.build(inside, dim).double()
    for weight in gates.parameters():
        nn.init.normal_(weight, std=0.5)
    return gates


def by_hand(gates: Gates, cell: Cell, x: Tensor) -> tuple[Tensor, State]:
    """The equations of the papers, one gate and one step at a time."""
    h = c = x.new_zeros(len(x), gates.dim)
    w, u, b = (p.chunk(gates.gates) for p in (gates.weight_x, gates.weight_h, gates.bias))
    outs = []
    for t in range(x.shape[1]):
        read = [x[:, t] @ w[n].t() + b[n] for n in range(gates.gates)]
        if isinstance(cell, LSTM):
            i, f, g, o = (read[n] + h @ u[n].t() for n in range(4))
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        else:
            r, z = (torch.sigmoid(read[n] + h @ u[n].t()) for n in range(2))
            if cell.reset == "before":
                new = torch.tanh(read[2] + (r * h) @ u[2].t())
            else:
                new = torch.tanh(read[2] + r * (h @ u[2].t() + gates.bias_h))
            h = z * h + (1 - z) * new if cell.update == "keep" else (1 - z) * h + z * new
        outs.append(h)
    return torch.stack(outs, 1), (h, c) if isinstance(cell, LSTM) else (h,)


def stepped(gates: Gates, x: Tensor) -> tuple[Tensor, State]:
    state, outs = gates.zeros(x), []
    for read in gates.project(x).unbind(1):
        state = gates.step(read, state)
        outs.append(state[0])
    return torch.stack(outs, 1), state


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_steps_are_the_equations_and_so_are_their_gradients(cell: Cell) -> None:
    gates, x = built(cell), torch.randn(3, 6, 5, dtype=torch.double)
    ours, theirs = stepped(gates, x), by_hand(gates, cell, x)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)
    weights = list(gates.parameters())
    one, other = (torch.autograd.grad(out.square().sum(), weights) for out, _ in (ours, theirs))
    torch.testing.assert_close(one, other, atol=1e-11, rtol=0)


@pytest.mark.parametrize("cell", FUSED, ids=str)
def test_the_kernel_gives_what_the_steps_give(cell: Cell) -> None:
    gates, x = built(cell), torch.randn(3, 6, 5, dtype=torch.double)
    ours, theirs = gates.run(x, gates.zeros(x), None), stepped(gates, x)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)
    weights = list(gates.parameters())
    one, other = (torch.autograd.grad(out.square().sum(), weights) for out, _ in (ours, theirs))
    torch.testing.assert_close(one, other, atol=1e-11, rtol=0)


@pytest.mark.parametrize("cell", FUSED, ids=str)
def test_padding_changes_nothing_and_gets_no_gradient(cell: Cell) -> None:
    gates = built(cell)
    lengths = (6, 3, 1, 0)
    real = torch.arange(6) < torch.tensor(lengths)[:, None]
    x = torch.randn(4, 6, 5, dtype=torch.double, requires_grad=True)
    begin = tuple(torch.randn(4, 7, dtype=torch.double) for _ in range(gates.states))
    out, end = gates.run(x, begin, real)
    for row, length in enumerate(lengths):
        state = tuple(part[row : row + 1] for part in begin)
        if length:
            alone, state = gates.run(x[row : row + 1, :length], state, None)
            torch.testing.assert_close(out[row : row + 1, :length], alone, atol=1e-12, rtol=0)
        torch.testing.assert_close(
            tuple(part[row : row + 1] for part in end), state, atol=1e-12, rtol=0
        )
    loss = out[real].square().sum() + sum(part.square().sum() for part in end)
    (gradient,) = torch.autograd.grad(loss, x)
    assert gradient[~real].abs().sum() == 0
    assert (gradient[real].abs().sum(-1) > 0).all()


def test_an_lstm_with_copied_weights_is_torchs() -> None:
    theirs = nn.LSTM(5, 7, batch_first=True).double()
    gates = built(LSTM())
    with torch.no_grad():
        gates.weight_x.copy_(theirs.weight_ih_l0)
        gates.weight_h.copy_(theirs.weight_hh_l0)
        gates.bias.copy_(theirs.bias_ih_l0 + theirs.bias_hh_l0)
    x = torch.randn(2, 6, 5, dtype=torch.double)
    out, (h, c) = theirs(x)
    torch.testing.assert_close(stepped(gates, x), (out, (h[0], c[0])), atol=1e-12, rtol=0)


def test_a_gru_that_resets_after_is_torchs_and_one_that_resets_before_is_not() -> None:
    theirs = nn.GRU(5, 7, batch_first=True).double()
    after, before = built(GRU()), built(GRU(reset="before"))
    with torch.no_grad():
        for gates in (after, before):
            gates.weight_x.copy_(theirs.weight_ih_l0)
            gates.weight_h.copy_(theirs.weight_hh_l0)
            gates.bias.copy_(theirs.bias_ih_l0)
            gates.bias[:14] += theirs.bias_hh_l0[:14]
        after.bias_h.copy_(theirs.bias_hh_l0[14:])
        before.bias[14:] += theirs.bias_hh_l0[14:]
    x = torch.randn(2, 6, 5, dtype=torch.double)
    out, h = theirs(x)
    torch.testing.assert_close(stepped(after, x), (out, (h[0],)), atol=1e-12, rtol=0)
    assert (stepped(before, x)[0] - out).abs().max() > 1e-3


def test_what_an_open_forget_gate_keeps_is_carried_a_thousand_steps() -> None:
    gates = built(LSTM(), 3, 4)
    with torch.no_grad():
        for weight in gates.parameters():
            weight.zero_()
        gates.bias[:4] = -50.0  # i
        gates.bias[4:8] = 50.0  # f
    c = torch.randn(1, 4, dtype=torch.double, requires_grad=True)
    x = torch.randn(1, 1_000, 3, dtype=torch.double)
    _, (_, end) = gates.run(x, (torch.zeros_like(c), c), None)
    assert (end - c).abs().max() < 1e-12
    (gradient,) = torch.autograd.grad(end.sum(), c)
    torch.testing.assert_close(gradient, torch.ones_like(c), atol=1e-12, rtol=0)


def test_a_forget_gate_begins_open() -> None:
    assert LSTM().build(3, 4).bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    assert LSTM(forget_bias=0.0).build(3, 4).bias.abs().sum() == 0

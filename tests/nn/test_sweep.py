"""All steps of a gated recurrent unit at once give what one step after another gives: by PyTorch's
operations, and by kernels, through Triton's interpreter or on a GPU where there is one."""

import pytest
import torch
from torch import Tensor, nn

from heedful.nn.cells import GRU, LSTM, Cell, Gates
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.recurrent import scan

DIALECTS = [GRU(reset=r, update=u) for r in ("after", "before") for u in ("keep", "renew")]
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.gpu),
]


def built(cell: Cell, dim: int = 7) -> Gates:
    gates = cell.build(5, dim).double()
    for weight in gates.parameters():
        nn.init.normal_(weight, std=0.5)
    return gates


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


def stepped(gates: Gates, read: Tensor, start: Tensor, beside: Tensor | None) -> Tensor:
    state, made = (start,), []
    for t, now in enumerate(read.unbind(1)):
        state = gates.step(now, state, *(() if beside is None else (beside[:, t],)))
        made.append(state[0])
    return torch.stack(made, 1)


@pytest.mark.parametrize(
    ("cell", "beside"),
    [
        (cell, beside)
        for cell in DIALECTS
        for beside in (False, True)[: 1 + (cell.reset == "after")]
    ],
    ids=str,
)
def test_a_sweep_gives_what_the_steps_give_and_so_do_its_gradients(
    cell: Cell, beside: bool
) -> None:
    gates, read, start = built(cell), noise(3, 6, 21), noise(3, 7)
    more = noise(3, 6, 7) if beside else None
    swept = gates.sweep(read, (start,), more)
    assert swept is not None
    ours, theirs = swept[0], stepped(gates, read, start, more)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)
    reached = [gates.weight_h, *([] if gates.bias_h is None else [gates.bias_h])]
    wanted = [read, start, *reached, *([] if more is None else [more])]
    weigh = torch.randn_like(ours)
    one, other = (torch.autograd.grad((out * weigh).sum(), wanted) for out in (ours, theirs))
    torch.testing.assert_close(one, other, atol=1e-12, rtol=0)
    assert all(slope.abs().max() > 1e-3 for slope in one)


@pytest.mark.parametrize("cell", DIALECTS, ids=str)
@pytest.mark.parametrize("at", [line(6, batch=3), ragged((6, 3, 1))], ids=["full", "padded"])
def test_rows_of_one_sequence_are_swept(
    cell: Cell, at: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates, read, start = built(cell), noise(3, 6, 21), noise(3, 7)
    out, (end,) = scan(gates, read, at, (start[:, None],))
    monkeypatch.setattr(type(gates), "sweep", lambda *_: None)
    plain, (plain_end,) = scan(gates, read, at, (start[:, None],))
    torch.testing.assert_close(out[at.real], plain[at.real], atol=1e-12, rtol=0)
    torch.testing.assert_close(end, plain_end, atol=1e-12, rtol=0)


def test_rows_of_one_sequence_take_no_single_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    gates, taken = built(GRU(reset="before")), []
    step = type(gates).step
    monkeypatch.setattr(type(gates), "step", lambda *a: taken.append(1) or step(*a))
    start = (torch.zeros(2, 1, 7).double(),)
    scan(gates, noise(2, 6, 21), line(6, batch=2), start)
    assert not taken
    packed = Layout(torch.tensor([[0, 1, 0, 1, 2, 3]] * 2), torch.tensor([[1, 1, 2, 2, 2, 2]] * 2))
    scan(gates, noise(2, 6, 21), packed, tuple(part.expand(-1, 2, -1) for part in start))
    assert len(taken) == 6


def test_an_lstm_is_not_swept() -> None:
    gates = built(LSTM())
    assert gates.sweep(noise(2, 3, 28), gates.zeros(torch.zeros(2, 1)), None) is None


def test_a_sweep_writes_over_nothing_that_it_was_given() -> None:
    for cell in DIALECTS:
        gates, read, start = built(cell), noise(2, 4, 21), noise(2, 7)
        before = [read.detach().clone(), start.detach().clone()]
        swept = gates.sweep(read, (start,), None)
        assert swept is not None
        swept[0].square().sum().backward()
        assert torch.equal(read.detach(), before[0]) and torch.equal(start.detach(), before[1])


CHECKS = """
import sys
import torch
from heedful.nn.kernels import gates

device = sys.argv[1]
gates.BLOCK = 16
f32, bf16 = torch.float32, torch.bfloat16

def drawn(*shape):
    return torch.randn(shape, device=device, dtype=torch.double)

def check(name, dtype, renew, *shapes):
    # Each shape is written over or read; all are compared with what PyTorch makes of them.
    given = [drawn(*shape).sigmoid().to(dtype) for shape in shapes]
    more = () if renew is None else (renew,)
    ours, theirs = [x.clone() for x in given], [x.double() for x in given]
    work = getattr(gates, name)
    assert gates.by_kernel(ours[0]) and not gates.by_kernel(theirs[0])
    work(*ours, *more)
    work(*theirs, *more)
    moved = 0
    for found, wanted, before in zip(ours, theirs, given):
        far_off = float((found.double() - wanted).abs().max())
        assert far_off < (2e-2 if dtype == bf16 else 2e-6), (name, dtype, far_off)
        moved += not torch.equal(found, before)
    assert moved, name

torch.manual_seed(1)
for dtype in (f32, bf16):
    for rows, dim in ((3, 7), (2, 16)):
        one, two, three = (rows, dim), (rows, 2 * dim), (rows, 3 * dim)
        check("reset", dtype, None, three, two, one, one)
        check("slopes_reset", dtype, None, one, one, three, one, three)
        for renew in (True, False):
            check("after", dtype, renew, three, three, one, one, one)
            check("update", dtype, renew, three, one, one, one)
            check("slopes_after", dtype, renew, one, one, three, one, one, three, one)
            check("slopes_update", dtype, renew, one, one, three, one, three)
"""


@pytest.mark.parametrize("device", DEVICES)
def test_kernels_of_gates_give_what_pytorch_gives(device: str, by_kernels) -> None:
    by_kernels(CHECKS, device)


@pytest.mark.parametrize(
    ("dtype", "products", "near"),
    [
        (torch.float32, "ieee", 1e-5),
        (torch.float32, "tf32", 3e-3),
        (torch.bfloat16, "ieee", 3e-2),
    ],
    ids=str,
)
@pytest.mark.parametrize("cell", DIALECTS, ids=str)
@pytest.mark.gpu
def test_a_sweep_on_a_gpu_gives_what_the_steps_give(
    cell: Cell, dtype: torch.dtype, products: str, near: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As near as products are that PyTorch lets cuDNN make in its own layers."""
    monkeypatch.setattr(torch.backends.cudnn.rnn, "fp32_precision", products)
    elsewhere = torch.backends.cuda.matmul.fp32_precision
    gates = built(cell, 96).to("cuda")
    nn.init.normal_(gates.weight_h, std=0.1)
    read, start = noise(33, 20, 288).to("cuda"), noise(33, 96).to("cuda")
    low = cell.build(5, 96).to("cuda", dtype)
    low.load_state_dict(gates.state_dict())
    found = low.sweep(read.to(dtype), (start.to(dtype),), None)
    assert found is not None
    wanted = stepped(gates, read, start, None)
    weigh = torch.randn_like(wanted)
    far = (found[0] - wanted).norm() / wanted.norm()
    assert (1e-5 if products == "tf32" else 0.0) < far < near
    one, other = (
        torch.autograd.grad((out * weigh).sum(), [read, start, weight])
        for out, weight in ((found[0], low.weight_h), (wanted, gates.weight_h))
    )
    for ours, theirs in zip(one, other, strict=True):
        assert (ours - theirs).norm() < near * theirs.norm()
    assert torch.backends.cuda.matmul.fp32_precision == elsewhere

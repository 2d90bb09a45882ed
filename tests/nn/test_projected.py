"""Projection and loss in chunks are what they are at once."""

import subprocess
import sys

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from heedful.nn import projected as module
from heedful.nn.losses import Smoothing
from heedful.nn.projected import projected


def case(dtype=torch.double):
    torch.manual_seed(0)
    x = torch.randn(3, 7, 8, dtype=dtype, requires_grad=True)
    weight = torch.randn(11, 8, dtype=dtype, requires_grad=True)
    real = torch.rand(3, 7) > 0.3
    return x, weight, torch.randint(11, (3, 7)), real


@pytest.mark.parametrize("chunk", [1, 11 * 4, 2**27])
@pytest.mark.parametrize(
    "smoothing",
    [Smoothing(amount=0.0), Smoothing(amount=0.1), Smoothing(amount=0.2, style="torch")],
    ids=str,
)
def test_in_chunks_it_equals_the_plain_loss_with_gradients(chunk, smoothing, monkeypatch) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    x, weight, targets, real = case()
    ours, plain = projected(smoothing, x, weight, targets, real), None
    ours_slopes = torch.autograd.grad(3 * ours.sum, (x, weight))
    plain = smoothing(x @ weight.T, targets, real)
    for one, other in zip(ours, plain, strict=True):
        torch.testing.assert_close(one, other)
    for one, other in zip(
        ours_slopes, torch.autograd.grad(3 * plain.sum, (x, weight)), strict=True
    ):
        torch.testing.assert_close(one, other)


# In a process of its own: the shape checks of these tests cannot be traced.
COMPILED = """
import torch
from heedful.nn import projected as module
from heedful.nn.losses import Smoothing

module.CHUNK = 11 * 4
torch.manual_seed(0)
x, weight = (torch.randn(n, 8, dtype=torch.double, requires_grad=True) for n in (21, 11))
targets, real = torch.randint(11, (21,)), torch.rand(21) > 0.3
found = []
for way in (module.projected, torch.compile(module.projected, backend="aot_eager", fullgraph=True)):
    loss = way(Smoothing(), x, weight, targets, real)
    found.append([loss.sum, loss.nll, *torch.autograd.grad(loss.sum, (x, weight))])
for one, other in zip(*found, strict=True):
    torch.testing.assert_close(one, other)
"""


def test_compiled_it_is_the_same() -> None:
    subprocess.run([sys.executable, "-c", COMPILED], check=True, timeout=300)


def test_the_likelihood_beside_it_has_no_gradient_and_none_is_made_when_none_is_wanted() -> None:
    x, weight, targets, real = case()
    loss = projected(Smoothing(), x, weight, targets, real)
    assert loss.sum.requires_grad and not loss.nll.requires_grad
    with torch.no_grad(), FlopCounterMode(display=False) as quietly:
        quiet = projected(Smoothing(), x, weight, targets, real)
    assert not quiet.sum.requires_grad
    assert quietly.get_total_flops() == 2 * x.numel() * len(weight)  # one product of three
    torch.testing.assert_close(quiet.sum, loss.sum.detach())


def test_under_autocast_the_products_are_low_and_the_sums_wide() -> None:
    x, weight, targets, real = case(torch.float)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = projected(Smoothing(), x, weight, targets, real)
        plain = Smoothing()(torch.nn.functional.linear(x, weight), targets, real)
    assert loss.sum.dtype is torch.float32
    torch.testing.assert_close(loss.sum, plain.sum, rtol=1e-4, atol=0.0)
    ours = torch.autograd.grad(loss.sum, (x, weight))
    theirs = torch.autograd.grad(plain.sum, (x, weight))
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype is torch.float32
        torch.testing.assert_close(one, other, rtol=0.05, atol=0.05)


def test_low_scores_on_a_cpu_give_what_wide_ones_would() -> None:
    x, weight, targets, real = case(torch.float)
    with torch.no_grad():
        x[0] *= 200  # some targets are then too unlikely for their probabilities to be told from 0
    low = x.bfloat16()
    loss = projected(Smoothing(), low, weight, targets, real)
    plain = Smoothing()((low @ weight.bfloat16().T).float(), targets, real)
    assert plain.nll > 1_000
    torch.testing.assert_close(loss.nll, plain.nll, rtol=1e-5, atol=0.0)
    torch.testing.assert_close(loss.sum, plain.sum, rtol=0.01, atol=0.0)
    for one, other in zip(
        torch.autograd.grad(loss.sum, (x, weight)),
        torch.autograd.grad(plain.sum, (x, weight)),
        strict=True,
    ):
        assert one.dtype is torch.float32
        assert (one - other).norm().item() / other.norm().item() < 0.01


INTERPRETED = """
import torch
from heedful.nn import projected as module
from heedful.nn.kernels import softmax_slopes as kernel
from heedful.nn.kernels.softmax_slopes import softmax_slopes

torch.manual_seed(0)
for tokens, labels, block, dtype in [
    (5, 11, 4_096, torch.float32),
    (3, 100, 16, torch.float32),  # several blocks, the last one not full
    (4, 64, 64, torch.float32),
    (6, 300, 128, torch.bfloat16),
]:
    kernel.BLOCK = block
    scores, true = (torch.randn(tokens, labels) * 20).to(dtype), torch.randint(labels, (tokens,))
    scores[0, 1:] = -torch.inf  # one label is all there is
    true[0] = 0
    slope, likely, norm = softmax_slopes(scores, true, -0.9)
    exact = scores.double().log_softmax(-1)
    wanted = exact.exp() - 0.9 * torch.nn.functional.one_hot(true, labels)
    near = 1e-2 if dtype == torch.bfloat16 else 1e-5
    torch.testing.assert_close(slope.double(), wanted, atol=near, rtol=near)
    torch.testing.assert_close(likely.double(), exact.gather(1, true[:, None])[:, 0], **NEAR)
    torch.testing.assert_close(norm.double(), scores.double().logsumexp(-1), **NEAR)
""".replace("**NEAR", "atol=1e-4, rtol=1e-5")


def test_its_kernel_gives_the_softmax_and_its_gradient(by_kernels) -> None:
    by_kernels(INTERPRETED)


def test_chunks_are_whole_tiles_where_they_are_larger(monkeypatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 2**27)
    assert module.chunk(32_000) == 4_096
    assert module.chunk(2**27) == module.chunk(2**30) == 1
    assert module.chunk(2**20) == 128


ON_A_GPU = """
import torch
from heedful.nn import projected as module
from heedful.nn.losses import Smoothing

module.CHUNK = 512 * 7_998
torch.manual_seed(0)
for dtype, how in [(d, h) for d in (torch.float32, torch.bfloat16) for h in ("plain", "compiled")]:
    x, weight = (
        (torch.randn(n, 64, device="cuda") / 2).to(dtype).requires_grad_() for n in (1_300, 7_998)
    )
    targets, real = torch.randint(7_998, (1_300,)).cuda(), (torch.rand(1_300) > 0.1).cuda()
    compiled = torch.compile(module.projected, fullgraph=True)
    way = compiled if how == "compiled" else module.projected
    loss = way(Smoothing(), x, weight, targets, real)
    found = [loss.sum, loss.nll, *torch.autograd.grad(loss.sum, (x, weight))]
    exact = [t.detach().double().requires_grad_() for t in (x, weight)]
    plain = Smoothing()(exact[0] @ exact[1].T, targets, real)
    wanted = [plain.sum, plain.nll, *torch.autograd.grad(plain.sum, exact)]
    for one, other in zip(found, wanted, strict=True):
        one, other = one.detach().double(), other.detach()
        far = float((one - other).norm() / other.norm())
        assert far < (1e-2 if dtype == torch.bfloat16 else 1e-3), (dtype, how, far)
"""


@pytest.mark.gpu
def test_on_a_gpu_it_gives_the_same(by_kernels) -> None:
    by_kernels(ON_A_GPU, "cuda")

"""The feed-forward part is its formula: plainly, and by kernels, interpreted and on a GPU."""

import pytest
import torch

from heedful.nn import feed_forward
from heedful.nn.feed_forward import FeedForward


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_it_is_the_formula(dropout: float) -> None:
    part, x = FeedForward(6, 12, dropout).eval(), torch.randn(2, 3, 6)
    assert not part.by_kernel(x)
    inner = (x @ part.inner.weight.T + part.inner.bias).clamp(min=0)
    torch.testing.assert_close(part(x), inner @ part.outer.weight.T + part.outer.bias)
    assert torch.equal(part.train()(x), part.eval()(x)) == (not dropout)


def test_kernels_are_for_whole_tiles_in_half_precision_where_one_learns_and_forgets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rectified = pytest.importorskip("heedful.nn.kernels.rectified", reason="Triton is for Linux")
    monkeypatch.setattr(feed_forward, "suits_kernels", lambda x: True)
    monkeypatch.setattr(rectified, "copies_tiles", lambda: True)
    x = torch.zeros(1, 2, 64, dtype=torch.bfloat16)
    part = FeedForward(64, 128).bfloat16()
    assert part.by_kernel(x)
    assert not FeedForward(64, 128).by_kernel(x)  # who keeps weights in full precision
    assert not FeedForward(64, 128).by_kernel(x.float())
    assert not FeedForward(64, 96).bfloat16().by_kernel(x)
    forgetful = FeedForward(64, 128, 0.1).bfloat16()
    assert not forgetful.by_kernel(x) and forgetful.eval().by_kernel(x)
    with torch.no_grad():
        assert not part.by_kernel(x)
    monkeypatch.setattr(rectified, "copies_tiles", lambda: False)
    assert not part.by_kernel(x)


INTERPRETED = """
import torch
from heedful.nn.kernels.rectified import FedForward

torch.manual_seed(0)
for tokens, dim, inner, dtype, near in [
    (300, 64, 384, torch.float32, 1e-6),  # the last tile is not full
    (256, 64, 128, torch.float32, 1e-6),  # all are
    (1, 128, 128, torch.float32, 1e-6),
    (1_300, 64, 128, torch.bfloat16, 1e-2),  # more tiles than are computed together
]:
    x, dy = torch.randn(2, tokens, dim).to(dtype)
    weights = [torch.randn(n).to(dtype) / 8 for n in ((inner, dim), inner, (dim, inner), dim)]
    inputs = [t.requires_grad_() for t in (x, *weights)]
    y = FedForward.apply(*inputs)
    found = torch.autograd.grad(y, inputs, dy)
    exact = [t.detach().double().requires_grad_() for t in inputs]
    wanted = torch.relu(exact[0] @ exact[1].T + exact[2]) @ exact[3].T + exact[4]
    slopes = torch.autograd.grad(wanted, exact, dy.double())
    for ours, theirs in zip((y, *found), (wanted, *slopes), strict=True):
        ours, theirs = ours.detach().double(), theirs.detach()
        far = float((ours - theirs).norm() / theirs.norm())
        assert far < near, (tokens, dim, inner, dtype, far)
"""


def test_its_kernel_gives_the_gradients(by_kernels) -> None:
    by_kernels(INTERPRETED)


ON_A_GPU = """
import copy
import torch
from heedful.nn.feed_forward import FeedForward

torch.manual_seed(0)
for how, length in [(h, n) for h in ("plain", "compiled") for n in (1_001, 16_384)]:
    torch.compiler.reset()
    part = FeedForward(512, 2048).to("cuda", torch.bfloat16)
    with torch.no_grad():
        for weight in part.parameters():
            weight.normal_(0, 0.05)
    x, dy = torch.randn(2, 3, length, 512, device="cuda", dtype=torch.bfloat16)
    x.requires_grad_()
    assert part.by_kernel(x)
    way = torch.compile(part, fullgraph=True) if how == "compiled" else part
    found, again = (
        [y := way(x), *torch.autograd.grad(y, [x, *part.parameters()], dy)] for _ in range(2)
    )
    assert all(map(torch.equal, found, again))
    exact = copy.deepcopy(part).double()
    y = exact(x_exact := x.detach().double().requires_grad_())
    wanted = [y, *torch.autograd.grad(y, [x_exact, *exact.parameters()], dy.double())]
    for ours, theirs in zip(found, wanted, strict=True):
        ours, theirs = ours.detach().double(), theirs.detach()
        far = float((ours - theirs).norm() / theirs.norm())
        assert far < 1e-2, (how, length, far)
"""


@pytest.mark.gpu
def test_on_a_gpu_it_gives_the_same(by_kernels) -> None:
    by_kernels(ON_A_GPU, "cuda")

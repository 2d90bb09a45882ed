"""Layer norm's own kernels give what PyTorch gives: by Triton's interpreter, and on a GPU."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from heedful.nn.norm import LayerNorm, seeds

INTERPRETED = """
import torch
from torch.nn import functional as F
from heedful.nn.kernels import norm_slopes as kernel
from heedful.nn.kernels.norm_slopes import norm_slopes
from heedful.nn.norm import Normed, NormedSum

torch.manual_seed(0)
for rows, dim, dtype, programs, near in [
    (37, 48, torch.float32, 3, 1e-4),  # the last rows make no whole tile, the columns no power of 2
    (1, 7, torch.float32, 1, 1e-4),
    (130, 512, torch.bfloat16, 4, 3e-2),
    (300, 512, torch.float32, 300, 1e-4),  # more programs than are added up at a time
]:
    x, dy = torch.randn(2, rows, dim).to(dtype)
    weight, bias = torch.randn(2, dim)
    inputs = [t.double().requires_grad_() for t in (x, weight, bias)]
    y = F.layer_norm(inputs[0], (dim,), *inputs[1:], 1e-6)
    wanted = torch.autograd.grad(y, inputs, dy.double())
    _, mean, scale = torch.native_layer_norm(x.float(), (dim,), weight, bias, 1e-6)
    dx, _, *others = norm_slopes(
        dy, None, x, None, mean[:, 0], scale[:, 0], weight, 0.0, programs
    )
    for ours, theirs in zip((dx, *others), wanted, strict=True):
        far = float((ours.double() - theirs).norm() / theirs.norm())
        assert far < near, (rows, dim, dtype, far)

# However x and its gradient lie in memory; more programs than rows find nothing to do.
kernel.programs = lambda device: 40
x, dy = (torch.randn(3, 24, 5).transpose(1, 2) for _ in range(2))
inputs = [x.requires_grad_(), *torch.randn(2, 24).requires_grad_()]
y = Normed.apply(*inputs, 1e-6)
wanted = F.layer_norm(x, (24,), *inputs[1:], 1e-6)
assert torch.equal(y, wanted)
for slopes in (dy, torch.ones(()).expand_as(y)):
    found = torch.autograd.grad(y, inputs, slopes, retain_graph=True)
    for ours, theirs in zip(found, torch.autograd.grad(wanted, inputs, slopes, retain_graph=True)):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)

# Of a sum: what is forgotten on the way forward is what has no gradient on the way back.
for shape, dtype, dropout, near in [
    ((5, 9, 48), torch.float32, 0.3, 1e-5),
    ((40, 7), torch.float32, 0.0, 1e-5),
    ((2, 3), torch.float32, 0.9, 1e-5),
    ((3, 20, 512), torch.bfloat16, 0.1, 2e-2),
]:
    seed = torch.randint(2**62, ()) if dropout else None
    x, y, dtotal, dout = torch.randn(4, *shape).to(dtype)
    weight, bias = torch.randn(2, shape[-1]).to(dtype)
    inputs = [t.requires_grad_() for t in (x, y, weight, bias)]
    total, out = NormedSum.apply(x, y, seed, weight, bias, 1e-6, dropout)
    again, _ = NormedSum.apply(x, y, seed, weight, bias, 1e-6, dropout)
    assert torch.equal(total, again)
    found = torch.autograd.grad([total, out], inputs, [dtotal, dout])
    stays = (found[1] != 0) if dropout else torch.ones(shape, dtype=torch.bool)
    exact = [t.detach().double().requires_grad_() for t in inputs]
    summed = exact[0] + exact[1] * stays / (1 - dropout)
    normed = F.layer_norm(summed, shape[-1:], *exact[2:], 1e-6)
    wanted = torch.autograd.grad([summed, normed], exact, [dtotal.double(), dout.double()])
    for ours, theirs in zip((total, out, *found), (summed, normed, *wanted), strict=True):
        ours, theirs = ours.detach().double(), theirs.detach()
        far = float((ours - theirs).norm() / theirs.norm())
        assert far < near, (shape, dtype, dropout, far)

# A share of what is there, differently for every seed, row and place.
x, y = torch.zeros(400, 64), torch.ones(400, 64)
plain = torch.ones(64), torch.zeros(64), 1e-6
gone = [NormedSum.apply(x, y, torch.tensor(s), *plain, 0.25)[0] == 0 for s in (1, 2, 2**61)]
for one in gone:
    assert abs(float(one.float().mean()) - 0.25) < 0.01
    assert float((one.float().mean(0) - 0.25).abs().max()) < 0.1
    assert float((one[1:] == one[:-1]).float().mean()) < 0.66  # by chance: 0.625
    assert float((one[:, 1:] == one[:, :-1]).float().mean()) < 0.66
for other in gone[1:]:
    assert float((gone[0] == other).float().mean()) < 0.66
"""


def test_its_kernel_gives_the_gradients(by_kernels) -> None:
    by_kernels(INTERPRETED)


def test_of_a_sum_it_is_the_norm_and_the_sum_where_there_is_no_kernel() -> None:
    norm, (x, y) = LayerNorm(6, eps=1e-6), torch.randn(2, 3, 4, 6)
    total, normed = norm.of_sum(x, y)
    assert torch.equal(total, x + y) and torch.equal(normed, norm(x + y))
    torch.manual_seed(7)
    total, normed = norm.of_sum(x, y, 0.5, seeds(1, x)[0])
    torch.manual_seed(7)
    seeds(1, x)
    assert torch.equal(total, x + F.dropout(y, 0.5)) and torch.equal(normed, norm(total))


def test_on_a_cpu_it_is_the_usual_one() -> None:
    ours, theirs = LayerNorm(6, eps=1e-6), nn.LayerNorm(6, eps=1e-6)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    x = torch.randn(2, 3, 6)
    assert torch.equal(ours(x), theirs(x))


# In a process of its own: the shape checks of these tests cannot be traced.
ON_A_GPU = """
import torch
from torch import nn
from heedful.nn.norm import LayerNorm

torch.manual_seed(0)
for dim, dtype, how in [
    (dim, dtype, how)
    for dim in (96, 512, 1_024)
    for dtype in (torch.float32, torch.bfloat16)
    for how in ("plain", "compiled", "recorded")
]:
    ours, theirs = LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
    with torch.no_grad():
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            one.copy_(other.normal_())
    ours, theirs = ours.to("cuda", dtype), theirs.to("cuda", dtype).double()
    x, dy = torch.randn(2, 3, 1_001, dim, device="cuda", dtype=dtype)
    x.requires_grad_()
    norm = torch.compile(ours, fullgraph=True) if how == "compiled" else ours

    def slopes():
        return torch.autograd.grad(norm(x), [x, *ours.parameters()], dy)

    found = slopes()
    assert all(map(torch.equal, found, slopes())), (dim, dtype, how)
    if how == "recorded":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = slopes()
        with torch.no_grad():
            x.copy_(torch.randn_like(x))
        graph.replay()
    exact = x.detach().double().requires_grad_()
    wanted = torch.autograd.grad(theirs(exact), [exact, *theirs.parameters()], dy.double())
    for one, other in zip(found, wanted, strict=True):
        far = float((one.double() - other).norm() / other.norm())
        assert far < (2e-2 if dtype == torch.bfloat16 else 1e-5), (dim, dtype, how, far)
"""


OF_A_SUM_ON_A_GPU = """
import torch
from torch import nn
from heedful.nn.norm import LayerNorm, seeds

for dim, dtype, how in [
    (dim, dtype, how)
    for dim in (96, 512, 1_024)
    for dtype in (torch.float32, torch.bfloat16)
    for how in ("plain", "compiled")
]:
    torch.manual_seed(0)
    norm = LayerNorm(dim, eps=1e-6).to("cuda", dtype)
    x, y, dtotal, dout = torch.randn(4, 3, 1_001, dim, device="cuda", dtype=dtype)
    inputs = [x.requires_grad_(), y.requires_grad_(), *norm.parameters()]
    for dropout in (0.0, 0.1):
        seed = seeds(1, x)[0]
        torch.compiler.reset()
        way = torch.compile(norm.of_sum, fullgraph=True) if how == "compiled" else norm.of_sum
        total, out = way(x, y, dropout, seed)
        found = torch.autograd.grad([total, out], inputs, [dtotal, dout])
        stays = found[1] != 0 if dropout else torch.ones_like(x, dtype=torch.bool)
        assert abs(float(stays.float().mean()) - 1 + dropout) < 2e-3
        exact = [t.detach().double().requires_grad_() for t in inputs]
        summed = exact[0] + exact[1] * stays / (1 - dropout)
        normed = nn.functional.layer_norm(summed, (dim,), *exact[2:], 1e-6)
        wanted = torch.autograd.grad([summed, normed], exact, [dtotal.double(), dout.double()])
        for one, other in zip((total, out, *found), (summed, normed, *wanted), strict=True):
            one, other = one.detach().double(), other.detach()
            far = float((one - other).norm() / other.norm())
            assert far < (2e-2 if dtype == torch.bfloat16 else 1e-5), (dim, dtype, how, far)
"""


@pytest.mark.gpu
def test_of_a_sum_on_a_gpu_it_gives_the_same(by_kernels) -> None:
    by_kernels(OF_A_SUM_ON_A_GPU, "cuda")


@pytest.mark.gpu
def test_on_a_gpu_it_gives_the_same(by_kernels) -> None:
    by_kernels(ON_A_GPU, "cuda")

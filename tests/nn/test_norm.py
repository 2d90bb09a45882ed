"""Layer norm's own kernel gives PyTorch's gradients: by Triton's interpreter, and on a GPU."""

import pytest
import torch
from torch import nn

from heedful.nn.norm import LayerNorm

INTERPRETED = """
import torch
from torch.nn import functional as F
from heedful.nn.kernels import norm_slopes as kernel
from heedful.nn.kernels.norm_slopes import norm_slopes
from heedful.nn.norm import Normed

torch.manual_seed(0)
for rows, dim, dtype, programs, near in [
    (37, 48, torch.float32, 3, 1e-4),  # the last rows make no whole tile, the columns no power of 2
    (1, 7, torch.float32, 1, 1e-4),
    (130, 512, torch.bfloat16, 4, 3e-2),
]:
    x, dy = torch.randn(2, rows, dim).to(dtype)
    weight, bias = torch.randn(2, dim)
    inputs = [t.double().requires_grad_() for t in (x, weight, bias)]
    y = F.layer_norm(inputs[0], (dim,), *inputs[1:], 1e-6)
    wanted = torch.autograd.grad(y, inputs, dy.double())
    _, mean, scale = torch.native_layer_norm(x.float(), (dim,), weight, bias, 1e-6)
    found = norm_slopes(dy, x, mean[:, 0], scale[:, 0], weight, programs)
    for ours, theirs in zip(found, wanted, strict=True):
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
"""


def test_its_kernel_gives_the_gradients(by_kernels) -> None:
    by_kernels(INTERPRETED)


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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_it_gives_the_same(by_kernels) -> None:
    by_kernels(ON_A_GPU, "cuda")

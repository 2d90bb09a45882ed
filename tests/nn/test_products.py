"""Products by other ways than PyTorch's are the same, bit for bit, and so are their gradients."""

import pytest
import torch

from heedful.nn.kernels.cublas import Side, side
from heedful.nn.kernels.products import (
    Multiplied,
    add_product,
    product,
    quickest,
    suits_products,
)
from heedful.nn.linear import Linear


def test_the_quickest_is_taken_where_it_is_clearly_better() -> None:
    assert quickest([3.0, 1.0, 2.0], 2.0) == 1
    assert quickest([3.0, 1.99], 2.0) is None
    assert quickest([], 2.0) is None


def test_where_there_is_no_gpu_it_is_the_usual_product() -> None:
    x, weight = torch.randn(5, 8, requires_grad=True), torch.randn(6, 8, requires_grad=True)
    assert not suits_products(x.bfloat16(), weight.bfloat16().t())
    found, wanted = Multiplied.apply(x, weight), x @ weight.t()
    torch.testing.assert_close(found, wanted)
    slopes = torch.randn(6, 5).t()
    for one, other in zip(
        torch.autograd.grad(found, (x, weight), slopes),
        torch.autograd.grad(wanted, (x, weight), slopes),
        strict=True,
    ):
        torch.testing.assert_close(one, other)
    total = torch.ones(5, 6)
    add_product(total, x.detach(), weight.detach().t())
    torch.testing.assert_close(total, 1 + wanted.detach())
    layer = Linear(8, 6, bias=False)
    assert torch.equal(layer(x[None]), torch.nn.functional.linear(x[None], layer.weight))


def test_a_matrix_lies_in_rows_or_turned_or_it_is_left_alone() -> None:
    x = torch.zeros(16, 24, dtype=torch.bfloat16)
    assert side(x) == Side(False, 24) and side(x.t()) == Side(True, 24)
    assert side(x[:, :8]) is None and side(x[:, ::2]) is None  # there are gaps
    assert side(x.flatten()[1:193].view(24, 8)) is None  # not where sixteen bytes begin
    assert side(torch.zeros(16, 20)) is None  # rows of no whole sixteen


def test_a_product_says_what_it_makes_before_it_is_made() -> None:
    compiled = torch.compile(lambda a, b: product(a, b) + 1, backend="aot_eager", fullgraph=True)
    a, b = torch.randn(3, 4), torch.randn(4, 5)
    torch.testing.assert_close(compiled(a, b), a @ b + 1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    ("rows", "deep", "columns"), [(8_192, 512, 32_000), (49_152, 512, 2_048), (6_000, 1_024, 520)]
)
def test_on_a_gpu_it_is_the_same_bit_for_bit(rows: int, deep: int, columns: int) -> None:
    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    x, weight, dy = some(rows, deep), some(columns, deep), some(rows, columns)
    for a, b in ((x, weight.t()), (dy, weight), (dy.t(), x)):
        assert suits_products(a, b)
        assert torch.equal(product(a, b), a @ b)
        total = torch.randn(len(a), b.shape[1], device="cuda")
        wanted = total.clone()
        add_product(total, a, b)
        torch.ops.aten.addmm.dtype_out(wanted, a, b, torch.float32, out=wanted)
        assert torch.equal(total, wanted)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = product(x, weight.t())
    x.copy_(some(rows, deep))
    graph.replay()
    assert torch.equal(found, x @ weight.t())
    new, before = (some(4_096, 512), some(1_024, 512).t()), torch.cuda.get_rng_state()
    product(*new)  # looking for the quickest way draws none of the numbers that a run draws
    assert torch.equal(torch.cuda.get_rng_state(), before)

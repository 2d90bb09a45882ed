"""Products by other ways than PyTorch's are the same, bit for bit, and so are their gradients."""

from typing import ClassVar

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from heedful.nn.kernels import ways
from heedful.nn.kernels.cublas import Product, Refused, Side, Way, side
from heedful.nn.kernels.ways import Asked, add_product, make, product, quickest, suits_ways


def test_the_quickest_is_taken_where_it_is_clearly_better() -> None:
    assert quickest([3.0, 1.0, 2.0], 2.0) == 1
    assert quickest([3.0, 1.99], 2.0) is None
    assert quickest([], 2.0) is None


def test_where_there_is_no_gpu_it_is_the_usual_product() -> None:
    a, b, bias = torch.randn(5, 8), torch.randn(8, 6), torch.randn(6)
    assert not suits_ways(a.bfloat16(), b.bfloat16().t())
    torch.testing.assert_close(product(a, b), a @ b)
    torch.testing.assert_close(product(a, b, bias), a @ b + bias)
    torch.testing.assert_close(product(a, b, bias, rectifies=True), (a @ b + bias).relu())
    total = torch.ones(5, 6)
    add_product(total, a, b)
    torch.testing.assert_close(total, 1 + a @ b)


LINEAR = """
import torch
from torch.nn import functional as F
from heedful.nn import products

torch.manual_seed(0)
products.ways.suits_ways = lambda a, b: True
for compiled in (False, True):
    for shifted in (False, True):
        torch.compiler.reset()
        times = products.times
        if compiled:
            times = torch.compile(times, backend="aot_eager", fullgraph=True)
        inputs = [torch.randn(n, requires_grad=True) for n in ((2, 3, 8), (6, 8), 6)]
        inputs = inputs[: 2 + shifted]
        found, wanted, dy = times(*inputs), F.linear(*inputs), torch.randn(2, 3, 6)
        torch.testing.assert_close(found, wanted)
        slopes = (torch.autograd.grad(y, inputs, dy) for y in (found, wanted))
        for one, other in zip(*slopes, strict=True):
            torch.testing.assert_close(one, other)
"""


def test_linear_layers_have_their_gradients(by_kernels) -> None:
    by_kernels(LINEAR)


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


class Several(Product):
    """Stands for what the library says of a product: 0 and 2 give its bits, 1 gives others."""

    asked: ClassVar[list[tuple[int, ...]]] = []

    def __init__(self, a: Tensor, b: Tensor, out: Tensor, shifts: bool, rectifies: bool) -> None:
        if len(a) == 7:
            raise Refused("cublasLtMatmulDescCreate: status 1")
        self.asked.append((*a.shape, b.shape[1]))

    def ways(self) -> list[Way]:
        return [Way(room=number) for number in range(3)]

    def make(
        self, way: Way, a: Tensor, b: Tensor, out: Tensor, adds: bool, bias: Tensor | None
    ) -> None:
        torch.addmm(out, a, b, beta=float(adds), out=out)
        if bias is not None:
            out += bias
        out[0, 0] += way.room == 1


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """As if this were a GPU where, of the ways that give the bits, the first is the quickest; which
    shapes the library was asked for."""
    monkeypatch.setattr(ways, "Product", Several)
    monkeypatch.setattr(ways, "_suits", lambda out, asked: True)
    monkeypatch.setattr(ways, "_known", {})
    monkeypatch.setattr(Several, "asked", [])
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    times = [3.0, 1.0, 2.0, 4.0]  # of the last as many as there are: ways, and the usual one
    monkeypatch.setattr(ways, "lasting", lambda works, device: times[-len(works) :])
    return Several.asked


@pytest.mark.parametrize("adds", [False, True])
def test_the_quickest_way_that_gives_the_same_bits_is_looked_for_once(several, adds) -> None:
    a, b = torch.randn(5, 8), torch.randn(8, 6)
    for _ in range(2):
        out = torch.ones(5, 6)
        make(out, Asked(a, b, adds=adds))
        torch.testing.assert_close(out, a @ b + float(adds))
    assert several == [(5, 8, 6)]
    (known,) = ways._known.values()
    assert known is not None and known[1].room == 0  # of 0 and 2, which last 1 and 2; the usual 4


def test_what_the_library_refuses_is_made_as_usual(several) -> None:
    a, b = torch.randn(7, 8), torch.randn(8, 6)
    torch.testing.assert_close(product(a, b), a @ b)
    assert list(ways._known.values()) == [None]


def test_nothing_is_looked_for_while_a_step_is_recorded(several, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    a, b = torch.randn(5, 8), torch.randn(8, 6)
    torch.testing.assert_close(product(a, b), a @ b)
    assert not several and not ways._known


def test_their_operations_are_counted_as_others_are() -> None:
    rectified = pytest.importorskip("heedful.nn.kernels.rectified", reason="Triton is for Linux")
    with FakeTensorMode(), FlopCounterMode(display=False) as counted:
        x, weight, outer = torch.randn(5, 8), torch.randn(6, 8), torch.randn(8, 6)
        inner = product(x, weight.t(), torch.randn(6), rectifies=True)
        slope, _ = rectified.rectified_slopes(x, outer, inner)
        add_product(torch.zeros(6, 8), slope.t(), x)
    assert counted.get_total_flops() == 3 * 2 * 5 * 6 * 8


def test_matrices_that_lie_otherwise_are_looked_at_by_themselves_and_not_too_many(
    several, monkeypatch
) -> None:
    monkeypatch.setattr(ways, "MOST", 2)
    a, b, bias = torch.randn(5, 8), torch.randn(8, 6), torch.randn(6)
    torch.testing.assert_close(product(a, b), a @ b)
    torch.testing.assert_close(product(a, b.t().contiguous().t()), a @ b)
    torch.testing.assert_close(product(a, b, bias), a @ b + bias)
    assert several == [(5, 8, 6)] * 2


def some(*shape: int) -> Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def same(made: Tensor, asked: Asked) -> bool:
    """Whether what is made is what PyTorch makes."""
    usual = made.clone()
    asked.usual(usual)
    make(made, asked)
    return torch.equal(made, usual)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("rows", "deep", "columns"), [(8_192, 512, 32_000), (49_152, 512, 2_048), (6_000, 1_024, 520)]
)
def test_on_a_gpu_it_is_the_same_bit_for_bit(rows: int, deep: int, columns: int) -> None:
    x, weight, bias, dy = some(rows, deep), some(columns, deep), some(columns), some(rows, columns)
    for a, b in ((x, weight.t()), (dy, weight), (dy.t(), x)):
        assert suits_ways(a, b.t())
        assert same(some(len(a), b.shape[1]), Asked(a, b))
        assert same(torch.randn(len(a), b.shape[1], device="cuda"), Asked(a, b, adds=True))
    for rectifies in (False, True):
        assert same(some(rows, columns), Asked(x, weight.t(), bias, rectifies))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = product(x, weight.t(), bias)
    x.copy_(some(rows, deep))
    bias.copy_(some(columns))
    graph.replay()
    assert torch.equal(found, torch.addmm(bias, x, weight.t()))


@pytest.mark.gpu
def test_on_a_gpu_looking_for_a_way_draws_none_of_a_runs_numbers() -> None:
    new, before = (some(4_096, 512), some(1_024, 512).t()), torch.cuda.get_rng_state()
    known = len(ways._known)
    product(*new)
    assert len(ways._known) == known + 1
    assert torch.equal(torch.cuda.get_rng_state(), before)

"""Products by another library are the same products, and so are their gradients."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from heedful.nn import processor, products
from heedful.nn.products import Linear, add_product, has_onednn, held_back, plus_times, product

try_onednn = pytest.mark.skipif(not has_onednn(), reason="this PyTorch has no way to oneDNN")


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """As on a processor that MKL holds back, products of any size; which ones oneDNN made."""
    made: list[tuple[int, ...]] = []
    real = products._by_onednn

    def noted(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
        made.append((*a.shape, len(b)))
        return real(a, b, bias)

    monkeypatch.setattr(products, "_by_onednn", noted)
    monkeypatch.setattr(products, "held_back", lambda: True)
    monkeypatch.setattr(products, "LARGE", 1)
    return made


@try_onednn
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(5,), (1, 3), (2, 3, 4), (0, 7)])
def test_a_layer_and_its_gradients_are_the_plain_ones(asked, bias, shape) -> None:
    torch.manual_seed(0)
    ours, plain = Linear(24, 16, bias=bias), nn.Linear(24, 16, bias=bias)
    plain.load_state_dict(ours.state_dict())
    x, by = torch.randn(*shape, 24, requires_grad=True), torch.randn(*shape, 16)
    found = []
    for layer in (ours, plain):
        y = layer(x)
        found.append([y, *torch.autograd.grad(y, [x, *layer.parameters()], by)])
    rows = by[..., 0].numel()
    assert asked == [(rows, 24, 16), (rows, 16, 24), (16, rows, 24)] * (rows > 0)
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(ours(x), plain(x), rtol=1e-5, atol=1e-5)


@try_onednn
def test_what_is_added_to_a_product_has_its_gradient(asked) -> None:
    torch.manual_seed(0)
    total, x, whole = torch.randn(6, 8), torch.randn(6, 4), torch.randn(8, 9)
    for tensor in (total, x, whole):
        tensor.requires_grad_()
    said = plus_times(total, x, whole[:, 5:])  # some columns of the weights
    plain = torch.addmm(total, x, whole[:, 5:].t())
    torch.testing.assert_close(said, plain, rtol=1e-5, atol=1e-5)
    by = torch.randn(6, 8)
    for one, other in zip(
        *(torch.autograd.grad(y, [total, x, whole], by) for y in (said, plain)), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    assert len(asked) == 3


@try_onednn
@pytest.mark.parametrize("a_lies", ["straight", "across", "repeated"])
@pytest.mark.parametrize("b_lies", ["straight", "across"])
@pytest.mark.parametrize("rows", [7, 11])
def test_products_are_of_what_is_meant_however_it_lies(asked, a_lies, b_lies, rows) -> None:
    torch.manual_seed(0)
    ways = {
        "straight": torch.randn(rows, 5),
        "across": torch.randn(5, rows).t(),
        "repeated": torch.randn(1, 5).expand(rows, 5),
    }
    a = ways[a_lies]
    b = torch.randn(9, 5) if b_lies == "straight" else torch.randn(5, 9).t()
    torch.testing.assert_close(product(a, b), a @ b.t(), rtol=1e-5, atol=1e-5)
    total = torch.randn(rows, 9)
    wanted = total + a @ b.t()
    add_product(total, a, b)
    torch.testing.assert_close(total, wanted, rtol=1e-5, atol=1e-5)
    turned = a_lies == "across" and rows > 9
    assert asked == [(9, 5, rows) if turned else (rows, 5, 9)] * 2


@try_onednn
@pytest.mark.parametrize("a_lies", ["straight", "across"])
@pytest.mark.parametrize("b_lies", ["straight", "across"])
def test_no_part_of_a_matrix_is_read_where_it_lies(a_lies, b_lies, monkeypatch) -> None:
    """For such oneDNN has but the way that it defines itself by, which takes a thousand times as
    long."""
    seen: list[Tensor] = []
    real = torch.ops.mkldnn._linear_pointwise

    def noted(a: Tensor, b: Tensor, *others: object) -> Tensor:
        seen.append(b)
        return real(a, b, *others)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", noted)
    torch.manual_seed(0)
    whole = torch.randn(40, 50)
    a = whole[:11, 3:8] if a_lies == "straight" else whole[3:8, :11].t()
    b = whole[20:29, 1:6] if b_lies == "straight" else whole[1:6, 20:29].t()
    torch.testing.assert_close(product(a, b), a @ b.t(), rtol=1e-5, atol=1e-5)
    assert seen and all(x.is_contiguous() or x.t().is_contiguous() for x in seen)


@try_onednn
def test_their_operations_are_counted_as_others_are(asked) -> None:
    counts = []
    for layer in (Linear(24, 16), nn.Linear(24, 16)):
        with FlopCounterMode(display=False) as counted:
            layer(torch.randn(2, 3, 24, requires_grad=True)).sum().backward()
        counts.append(counted.get_total_flops())
    assert len(asked) == 3 and counts == [3 * 2 * 6 * 24 * 16] * 2


@try_onednn
def test_a_gradient_of_a_gradient_is_refused_and_not_made_up(asked) -> None:
    x = torch.randn(3, 4, requires_grad=True)
    (slope,) = torch.autograd.grad(Linear(4, 2)(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


COMPILED = """
import torch
from torch._dynamo.testing import CompileCounter
from heedful.nn import processor, products

products.held_back = lambda: True
products.LARGE = 50 * 8 * 8
counted = CompileCounter()
layer = torch.compile(products.Linear(8, 8), backend=counted, dynamic=True)
for rows in (3, 40, 60, 90):
    layer(torch.randn(rows, 8))
assert counted.frame_count == 1, counted.frame_count
"""


def test_a_compiled_layer_is_compiled_once_for_small_and_large_products() -> None:
    """In a process that checks no shapes: that cannot be compiled."""
    subprocess.run([sys.executable, "-c", COMPILED], check=True, timeout=300)


@pytest.mark.parametrize("why", ["double", "half", "autocast", "small", "known", "lacking"])
def test_other_products_are_left_to_pytorch(asked, why, monkeypatch) -> None:
    dtype = {"double": torch.double, "half": torch.bfloat16}.get(why, torch.float32)
    x, weight = torch.ones(2, 4, dtype=dtype), torch.ones(3, 4, dtype=dtype)
    if why == "small":
        monkeypatch.setattr(products, "LARGE", 2 * 4 * 3 + 1)
    if why in ("known", "lacking"):
        which = "held_back" if why == "known" else "has_onednn"
        monkeypatch.setattr(products, which, lambda: False)
    with torch.autocast("cpu", enabled=why == "autocast"):
        assert torch.equal(products.times(x, weight), F.linear(x, weight))
        assert product(x, weight).dtype is (torch.bfloat16 if why == "autocast" else dtype)
    assert not asked


@pytest.mark.parametrize(
    ("maker", "family", "width", "mkl", "held"),
    [
        ("AuthenticAMD", "26", "AVX512", True, True),
        ("AuthenticAMD", "25", "AVX512", True, False),
        ("GenuineIntel", "26", "AVX512", True, False),
        ("AuthenticAMD", "26", "AVX2", True, False),
        ("AuthenticAMD", "26", "AVX512", False, False),
        ("AuthenticAMD", "unknown", "AVX512", True, False),
        (None, "", "AVX512", True, False),
    ],
)
def test_mkl_holds_back_new_processors_of_another_maker(
    maker, family, width, mkl, held, monkeypatch, tmp_path: Path
) -> None:
    about = tmp_path / "cpuinfo"
    if maker:
        about.write_text(f"vendor_id\t: {maker}\ncpu family\t: {family}\n\nflags\t: a b\n")
    monkeypatch.setattr(processor, "ABOUT", about)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: width)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: mkl)
    held_back.cache_clear()
    try:
        assert held_back() is held
    finally:
        held_back.cache_clear()


def test_a_pytorch_without_the_way_is_found_out(monkeypatch) -> None:
    def lacking(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
        raise AttributeError("no such operation")

    monkeypatch.setattr(products, "_by_onednn", lacking)
    has_onednn.cache_clear()
    try:
        assert not has_onednn()
    finally:
        has_onednn.cache_clear()

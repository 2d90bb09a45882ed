"""Layers that multiply in bf16 are as near to the plain ones as rounding allows, both ways."""

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from heedful.nn.low import LowLinear, has_low_products, relay


def near(one: Tensor, other: Tensor, share: float) -> None:
    """That two tensors differ by no more than a share of their length, and do differ."""
    assert one.shape == other.shape and one.dtype == other.dtype == torch.float32
    assert 0 < (one - other).norm().item() / other.norm().item() < share


@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_and_its_gradients_are_near_the_plain_ones(bias) -> None:
    torch.manual_seed(0)
    plain = nn.Linear(48, 32, bias=bias)
    low = LowLinear(plain)
    assert low.weight is plain.weight and low.bias is plain.bias
    x, by = torch.randn(2, 40, 48, requires_grad=True), torch.randn(2, 40, 32)
    one, other = low(x), plain(x)
    near(one, other, 0.01)
    wanted = [x, plain.weight]
    for a, b in zip(
        torch.autograd.grad(one, wanted, by), torch.autograd.grad(other, wanted, by), strict=True
    ):
        near(a, b, 0.01)
    if bias:
        (a,) = torch.autograd.grad(low(x), [plain.bias], by)
        torch.testing.assert_close(a, by.sum((0, 1)))  # nothing is multiplied, so nothing is lost


def test_what_is_multiplied_is_rounded_and_nothing_else() -> None:
    torch.manual_seed(0)
    plain = nn.Linear(64, 16)
    x = torch.randn(5, 64)
    rounded = nn.functional.linear(x.bfloat16().double(), plain.weight.bfloat16().double())
    torch.testing.assert_close(
        LowLinear(plain)(x), (rounded.bfloat16().float() + plain.bias), rtol=0.005, atol=1e-5
    )


def test_no_gradient_is_made_that_nobody_wants() -> None:
    layer, x = nn.Linear(8, 4), torch.randn(3, 8)
    product = 2 * x.numel() * 4
    for wanted, products in ((layer.weight, 2), (x, 2), (layer.bias, 1)):
        for tensor in (layer.weight, x, layer.bias):
            tensor.requires_grad_(tensor is wanted)
        with FlopCounterMode(display=False) as counted:
            LowLinear(layer)(x).sum().backward()
        assert wanted.grad is not None and counted.get_total_flops() == products * product


def test_every_linear_layer_is_laid_anew_wherever_it_stands() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ModuleList([nn.Sequential(nn.Linear(2, 2))]))
    relay(model, LowLinear)
    kinds = [type(part) for part in model.modules()]
    assert kinds.count(LowLinear) == 2 and nn.Linear not in kinds


@pytest.mark.parametrize("having", ["avx512_bf16", "amx_tile", ""])
def test_a_processor_has_low_products_of_either_kind(having, monkeypatch) -> None:
    for name in ("avx512_bf16", "amx_tile"):
        monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda name=name: name == having)
    assert has_low_products() is bool(having)

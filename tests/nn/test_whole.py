"""Layers in whole numbers of eight bits are as near to the plain ones as rounding allows, and what
becomes of a vector depends on none beside it."""

import pytest
import torch
from torch import Tensor, nn

from heedful.nn import whole as whole_file
from heedful.nn.whole import MOST, WholeLinear, has_whole_products, rounded

multiplies = pytest.mark.skipif(
    not has_whole_products(), reason="this machine multiplies no numbers of eight bits"
)


def by_hand(x: Tensor, layer: nn.Linear) -> Tensor:
    """The product of what both are rounded to, in float64: no sum of it loses a digit."""
    (read, of_read), (weight, of_weight) = rounded(x), rounded(layer.weight)
    said = (read.double() @ weight.double().T) * of_read.double() * of_weight.double().T
    return said if layer.bias is None else said + layer.bias.double()


@multiplies
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3,), (1, 7), (2, 5, 1)])
def test_a_layer_multiplies_what_both_sides_are_rounded_to(bias, shape) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(96, 40, bias=bias).requires_grad_(False)
    x = torch.randn(*shape, 96)
    said = WholeLinear(layer.weight, layer.bias)(x)
    assert said.dtype is torch.float32 and said.shape == (*shape, 40)
    exact = by_hand(x.view(-1, 96), layer).view_as(said)
    torch.testing.assert_close(said, exact.float(), rtol=1e-5, atol=1e-5)
    far = (said - layer(x)).norm() / layer(x).norm()
    assert 0 < far < 0.02


@multiplies
def test_what_becomes_of_a_vector_depends_on_none_beside_it() -> None:
    torch.manual_seed(0)
    layer = WholeLinear(torch.randn(48, 64), torch.randn(48))
    x = torch.randn(9, 64)
    alone = torch.cat([layer(row[None]) for row in x])
    x[::2] *= 1e6
    torch.testing.assert_close(layer(x)[1::2], alone[1::2], rtol=0, atol=0)


@multiplies
def test_no_vectors_and_vectors_of_zeros_have_their_answers() -> None:
    bias = torch.randn(16)
    layer = WholeLinear(torch.randn(16, 8), bias)
    assert layer(torch.zeros(2, 0, 8)).shape == (2, 0, 16)
    assert torch.equal(layer(torch.zeros(3, 8)), bias.expand(3, -1))


def test_every_vector_has_its_own_scale_and_its_largest_number_is_the_most() -> None:
    x = torch.tensor([[0.5, -2.0, 1.0], [300.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    whole, scale = rounded(x)
    assert whole.tolist() == [[32, -127, 64], [127, 0, 0], [0, 0, 0]]
    assert whole.abs().max() == MOST
    torch.testing.assert_close(whole * scale, x, rtol=0, atol=300 / MOST / 2)


@pytest.mark.parametrize("fault", ["overflows", "lacks"])
def test_a_processor_that_adds_up_with_an_error_is_found_out(fault, monkeypatch) -> None:
    """Without VNNI pairs of products are added up in sixteen bits, and cut off at their ends."""

    class Faulty(WholeLinear):
        def forward(self, x: Tensor) -> Tensor:
            if fault == "lacks":
                raise RuntimeError("no such operation")
            return super().forward(x).clamp(max=2.0**15)

    monkeypatch.setattr(whole_file, "WholeLinear", Faulty)
    has_whole_products.cache_clear()
    try:
        assert not has_whole_products()
    finally:
        has_whole_products.cache_clear()

"""A Transformer without residuals keeps what any model keeps, and is another model."""

import pytest
import torch

from heedful.laws import LAWS, Subject
from heedful.models.transformer import Transformer, TransformerConfig
from heedful.nn.blocks import Residual
from heedful.nn.layout import line

KEPT = (
    "pieces_equal_the_whole",
    "padding_changes_nothing",
    "packing_changes_nothing",
    "the_future_does_not_leak",
    "every_parameter_gets_a_gradient",
)


@pytest.mark.parametrize("residuals", ["none", "timing"])
def test_laws_hold_without_residuals(residuals: str) -> None:
    subject = Subject("transformer_tiny", {"model.residuals": residuals})
    assert subject.preset.model.residuals == residuals
    for law in KEPT:
        LAWS[law](subject)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_part_is_all_there_is_where_nothing_is_added(norm) -> None:
    x = torch.randn(2, 3, 8)
    adds, replaces = Residual(8, norm, 0.0), Residual(8, norm, 0.0, adds=False)

    def nothing(y):
        return torch.zeros_like(y)

    assert replaces(x, nothing).abs().max() == 0
    assert adds(x, nothing).abs().max() > 0


def test_timing_tells_positions_before_every_layer() -> None:
    def made(residuals: str) -> Transformer:
        torch.manual_seed(1)
        numbers = {"dim": 8, "heads": 2, "ff": 8, "layers": 2, "dropout": 0.0}
        return Transformer(TransformerConfig(**numbers, residuals=residuals)).eval()

    x, at = torch.randn(1, 4, 8), line(4)
    with torch.no_grad():
        plain, timed = made("none"), made("timing")
        signal = timed.encoder.positions(at)
        first = timed.encoder.layers[0](x + signal, at)
        by_hand = timed.encoder.norm(timed.encoder.layers[1](first + signal, at))
        torch.testing.assert_close(timed.encode(x, at).x, by_hand)
        assert (plain.encode(x, at).x - by_hand).abs().max() > 1e-3

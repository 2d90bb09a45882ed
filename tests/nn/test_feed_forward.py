"""The feed-forward part is its formula."""

import pytest
import torch

from heedful.nn.feed_forward import FeedForward


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_it_is_the_formula(dropout: float) -> None:
    part, x = FeedForward(6, 12, dropout).eval(), torch.randn(2, 3, 6)
    inner = (x @ part.inner.weight.T + part.inner.bias).clamp(min=0)
    torch.testing.assert_close(part(x), inner @ part.outer.weight.T + part.outer.bias)
    assert torch.equal(part.train()(x), part.eval()(x)) == (not dropout)

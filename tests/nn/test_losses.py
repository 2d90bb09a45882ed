import math

import pytest
import torch
from torch.nn import functional as F

from heedful.nn.losses import Smoothing

LOGITS = torch.linspace(-2, 3, 30, dtype=torch.double).view(1, 5, 6).sin() * 3
TARGETS = torch.tensor([[0, 5, 2, 2, 1]])
REAL = torch.tensor([[True, True, True, True, False]])


def test_torch_style_equals_torchs_own() -> None:
    loss = Smoothing(amount=0.1, style="torch")(LOGITS, TARGETS, REAL)
    reference = F.cross_entropy(LOGITS[REAL], TARGETS[REAL], label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(loss.sum, reference)
    assert loss.weight == 4


def test_t2t_style_gives_the_others_an_equal_share_and_subtracts_the_least_loss() -> None:
    loss = Smoothing(amount=0.1, style="t2t")(LOGITS, TARGETS, REAL)
    wanted = torch.full((4, 6), 0.1 / 5, dtype=torch.double)
    wanted.scatter_(1, TARGETS[REAL][:, None], 0.9)
    cross = -(wanted * LOGITS[REAL].log_softmax(-1)).sum()
    entropy = -(wanted * wanted.log()).sum()
    torch.testing.assert_close(loss.sum, cross - entropy)


def test_t2t_style_is_zero_at_best() -> None:
    logits = torch.full((1, 6), 0.1 / 5, dtype=torch.double)
    logits[0, 3] = 0.9
    loss = Smoothing()(logits.log()[None], torch.tensor([[3]]), torch.tensor([[True]]))
    assert loss.sum.item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("style", ["t2t", "torch"])
def test_nothing_smoothed_is_the_likelihood(style) -> None:
    loss = Smoothing(amount=0.0, style=style)(LOGITS, TARGETS, REAL)
    torch.testing.assert_close(
        loss.sum, F.cross_entropy(LOGITS[REAL], TARGETS[REAL], reduction="sum")
    )
    torch.testing.assert_close(loss.sum, loss.nll)


def test_the_likelihood_beside_the_loss_is_not_smoothed() -> None:
    plain = F.cross_entropy(LOGITS[REAL], TARGETS[REAL], reduction="sum")
    torch.testing.assert_close(Smoothing(amount=0.3)(LOGITS, TARGETS, REAL).nll, plain)


def test_half_precision_logits_are_summed_in_single() -> None:
    loss = Smoothing()(LOGITS.bfloat16(), TARGETS, REAL)
    assert loss.sum.dtype is torch.float32 and math.isfinite(loss.sum)

"""Contrast finds log-probabilities, negative sampling finds how much more often than by chance."""

import math

import pytest
import torch

from heedful.errors import UsageError
from heedful.modalities.heads import ContrastHead
from heedful.modalities.symbols import Embedding
from heedful.nn.contrast import Contrast, Negatives, told_apart
from heedful.nn.layout import line

WORDS = torch.tensor([0.0, 25, 20, 15, 10, 10, 8, 6, 4, 2])  # of a hundred


def learnt(config: Contrast) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores for ten words of a fixed distribution, and how often each is noise."""
    torch.manual_seed(0)
    ids = torch.repeat_interleave(torch.arange(10), WORDS.long())[None]
    counts = torch.tensor([0, 30, 10, 10, 10, 10, 10, 10, 5, 5]).double()
    head = ContrastHead(Embedding(10, 1).double(), config, counts).train()
    x, at = torch.ones(1, ids.shape[1], 1).double(), line(ids.shape[1])
    steps = 800
    optimiser = torch.optim.Adam(head.parameters(), lr=0.1)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda n: 0.992**n)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = head.loss(x, ids, at)
        (loss.sum / loss.weight).backward()
        optimiser.step()
        falling.step()
    return head.embedding.weight.detach()[1:, 0], head.noise.expected[1:] / config.drawn


def test_contrast_finds_probabilities_that_add_up_to_one_by_themselves() -> None:
    scores, _ = learnt(Contrast(samples=25, drawn=400))
    logp = scores - math.log(10)  # what a fresh model's scores are short of
    assert abs(float(logp.exp().sum()) - 1) < 0.01
    torch.testing.assert_close(logp, (WORDS[1:] / 100).log().double(), atol=0.02, rtol=0.0)


def test_negative_sampling_finds_probability_by_that_of_noise() -> None:
    scores, noise = learnt(Negatives(samples=5, drawn=400, power=1.0))
    wanted = (WORDS[1:].double() / 100).log() - (5 * noise).log()
    torch.testing.assert_close(scores, wanted, atol=0.02, rtol=0.0)


def test_the_loss_is_the_one_of_the_paper() -> None:
    true, noise = torch.tensor([0.3]), torch.tensor([[-1.0, 2.0]])
    loss = told_apart(true, noise, torch.tensor([True]), samples=4)
    wanted = -true.sigmoid().log() - 4 * (-noise).sigmoid().log().mean()
    torch.testing.assert_close(loss.sum, wanted.sum())
    assert float(told_apart(true, noise, torch.tensor([False]), samples=4).sum) == 0


def test_a_fresh_model_is_nearly_normalised() -> None:
    head = ContrastHead(Embedding(5_000, 64), Contrast(), None)
    x = torch.randn(1, 4, 64) * 0.1
    total = (head(x) - head.begins).exp().sum(-1)
    assert (total - 1).abs().max() < 0.1


def test_no_noise_is_refused() -> None:
    with pytest.raises(UsageError, match="got 0 and 1024"):
        Contrast(samples=0)

"""The softmax over candidates is the softmax where it can be, and on average where not."""

import pytest
import torch
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn import candidates as module
from heedful.nn.candidates import Sampled, among
from heedful.nn.losses import Smoothing
from heedful.nn.noise import Noise, at_most_once, log_uniform

PLAIN = Smoothing(amount=0.0)


def case(size: int = 11, dtype=torch.double):
    torch.manual_seed(0)
    x = torch.randn(3, 7, 8, dtype=dtype, requires_grad=True)
    weight = torch.randn(size, 8, dtype=dtype, requires_grad=True)
    real = torch.rand(3, 7) > 0.3
    return x, weight, torch.randint(size, (3, 7)), real


@pytest.mark.parametrize("chunk", [1, 11 * 4, 2**23])
def test_with_every_word_among_them_it_is_the_full_softmax_with_gradients(
    chunk, monkeypatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    x, weight, targets, real = case()
    ours = among(x, weight, targets, real, torch.randperm(11), torch.zeros(11).double())
    full = PLAIN(F.linear(x, weight), targets, real)
    for one, other in zip(ours, full, strict=True):
        torch.testing.assert_close(one, other)
    slopes = torch.autograd.grad(3 * ours.sum, (x, weight))
    for one, other in zip(slopes, torch.autograd.grad(3 * full.sum, (x, weight)), strict=True):
        torch.testing.assert_close(one, other)


def test_a_bucket_is_a_softmax_over_its_words_and_only_their_rows_learn() -> None:
    x, weight, targets, real = case()
    bucket = torch.tensor([2, 3, 5, 7, 9, 0, 0])  # the last two are padding
    targets = bucket[targets % 5]
    left_out = torch.zeros(7).double().masked_fill(bucket == 0, torch.inf)
    loss = among(x, weight, targets, real, bucket, left_out)
    words = bucket[:5]
    place = (words == targets[..., None]).int().argmax(-1)
    torch.testing.assert_close(loss.sum, PLAIN(F.linear(x, weight[words]), place, real).sum)
    (slope,) = torch.autograd.grad(loss.sum, weight)
    outside = torch.ones(11, dtype=torch.bool)
    outside[words] = False
    assert (slope[outside] == 0).all() and (slope[words].abs().sum(1) > 0).all()
    each = among(
        x[:1, :1].expand(1, 5, 8), weight, words[None], torch.ones(1, 5) > 0, bucket, left_out
    )
    probabilities = [
        among(x[:1, :1], weight, word[None, None], torch.ones(1, 1) > 0, bucket, left_out)
        for word in words
    ]
    total = sum((-one.sum).exp() for one in probabilities)
    torch.testing.assert_close(total, torch.ones_like(total))
    torch.testing.assert_close(each.sum, sum(one.sum for one in probabilities))


def test_sampled_words_give_the_sum_over_all_on_average_and_its_gradient() -> None:
    torch.manual_seed(3)
    size, samples, times = 60, 20, 2_000
    scores = torch.randn(size, dtype=torch.double)
    true = 7
    noise = Noise(at_most_once(log_uniform(size), samples))
    sums, slopes = [], []
    for _ in range(times):
        weight = scores[:, None].clone().requires_grad_()
        drawn = noise.draw()
        one = torch.ones(1, 1, 1).double()
        ids, real = torch.tensor([[true]]), torch.ones(1, 1) > 0
        loss = among(one, weight, ids, real, drawn, noise.log_expected(drawn).double())
        sums.append((loss.sum.detach() + scores[true]).exp())
        slopes.append(torch.autograd.grad(loss.sum, weight)[0][:, 0])
    estimates = torch.stack(sums)
    error = estimates.std() / times**0.5
    assert (estimates.mean() - scores.exp().sum()).abs() < 3 * error  # Z without bias
    found = torch.stack(slopes)
    found[:, true] += 1  # of log Z alone
    found *= estimates[:, None]  # of Z, which has no bias either
    error = found.std(0) / times**0.5
    assert ((found.mean(0) - scores.exp()).abs() <= 4 * error + 1e-9).all()
    assert ((found.mean(0) - found.mean()).abs() > 4 * error).sum() > size / 2  # it could fail


def test_with_many_samples_the_gradient_of_log_z_is_right_within_its_error() -> None:
    torch.manual_seed(4)
    size, samples, times = 4_000, 1_000, 100  # 100,000 draws
    scores = torch.randn(size, dtype=torch.double)
    noise = Noise(at_most_once(log_uniform(size), samples))
    found = []
    for _ in range(times):
        weight = scores[:, None].clone().requires_grad_()
        drawn = noise.draw()
        loss = among(
            torch.ones(1, 1, 1).double(),
            weight,
            torch.tensor([[5]]),
            torch.ones(1, 1) > 0,
            drawn,
            noise.log_expected(drawn).double(),
        )
        slope = torch.autograd.grad(loss.sum, weight)[0][:, 0]
        slope[5] += 1
        found.append(slope.view(20, -1).sum(1))  # by two hundred words each, most rare to be drawn
    together = torch.stack(found)
    wanted = scores.softmax(0).view(20, -1).sum(1)
    error = together.std(0) / times**0.5
    assert ((together.mean(0) - wanted).abs() < 3.5 * error).all()


def test_under_autocast_the_products_are_low_and_the_sums_wide() -> None:
    x, weight, targets, real = case(dtype=torch.float)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = among(x, weight, targets, real, torch.arange(11), torch.zeros(11))
    assert loss.sum.dtype is torch.float32
    full = PLAIN(F.linear(x, weight), targets, real)
    torch.testing.assert_close(loss.sum, full.sum, rtol=2e-2, atol=0.0)


def test_no_samples_are_refused() -> None:
    with pytest.raises(UsageError, match=r"loss.samples must be 1 or more, got 0"):
        Sampled(samples=0)

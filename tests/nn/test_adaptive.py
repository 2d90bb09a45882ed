"""Clusters are a distribution whatever their edges, and are what PyTorch's are."""

import pytest
import torch
from torch import nn

from heedful.errors import UsageError
from heedful.nn.adaptive import Adaptive, Clusters

X = torch.randn(40, 16, dtype=torch.double, generator=torch.Generator().manual_seed(0))
TARGETS = torch.randint(60, (40,), generator=torch.Generator().manual_seed(1))
REAL = torch.arange(40) % 3 > 0


@pytest.mark.parametrize("cutoffs", [(), (1,), (10, 30), (5, 6, 59), (10, 500)], ids=str)
def test_probabilities_add_up_to_one_and_the_loss_is_theirs(cutoffs) -> None:
    clusters = Clusters(60, 16, Adaptive(cutoffs=cutoffs)).double()
    logp = clusters(X)
    assert logp.shape == (40, 60)
    torch.testing.assert_close(logp.exp().sum(-1), torch.ones(40).double(), atol=1e-6, rtol=0.0)
    loss = clusters.loss(X, TARGETS, REAL)
    torch.testing.assert_close(loss.sum, -logp.gather(1, TARGETS[:, None])[REAL].sum())
    assert int(loss.weight) == int(REAL.sum())


def test_it_is_pytorchs_with_the_same_weights() -> None:
    ours = Clusters(60, 16, Adaptive(cutoffs=(10, 30), narrower=2.0)).double()
    theirs = nn.AdaptiveLogSoftmaxWithLoss(16, 60, [10, 30], div_value=2.0).double()
    with torch.no_grad():
        theirs.head.weight.copy_(ours.first.weight)
        for tail, narrow, rare in zip(theirs.tail, ours.narrow, ours.rare, strict=True):
            tail[0].weight.copy_(narrow.weight)
            tail[1].weight.copy_(rare.weight)
    torch.testing.assert_close(ours(X), theirs.log_prob(X))
    torch.testing.assert_close(
        ours.loss(X, TARGETS, REAL).sum, -theirs(X[REAL], TARGETS[REAL]).output.sum()
    )


def test_without_rare_words_it_is_the_full_softmax() -> None:
    clusters = Clusters(60, 16, Adaptive(cutoffs=(60, 900))).double()
    torch.testing.assert_close(clusters(X), (X @ clusters.first.weight.T).log_softmax(-1))


def test_rarer_words_have_narrower_vectors() -> None:
    clusters = Clusters(60, 32, Adaptive(cutoffs=(10, 30)))
    assert [layer.in_features for layer in clusters.rare] == [8, 2]


@pytest.mark.parametrize("cutoffs", [(5, 3), (0,), (4, 4)], ids=str)
def test_edges_that_do_not_rise_are_refused(cutoffs) -> None:
    with pytest.raises(UsageError, match=r"loss.cutoffs must be 1 or more and rise"):
        Adaptive(cutoffs=cutoffs)

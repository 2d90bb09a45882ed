"""Every head, however it is trained, gives the whole softmax when it is used."""

import copy

import pytest
import torch

from heedful.config import from_json, to_json, vary
from heedful.data.batch import Batch, Rows
from heedful.errors import UsageError
from heedful.modalities.heads import BucketHead, SampledHead, head_for
from heedful.modalities.symbols import Embedding, Head
from heedful.models.building import build
from heedful.nn.adaptive import Adaptive
from heedful.nn.candidates import Buckets, Sampled
from heedful.nn.contrast import Contrast, Negatives
from heedful.nn.layout import line
from heedful.nn.losses import Objective, Smoothing
from heedful.presets.base import Preset
from heedful.registry import presets
from heedful.training.twin import Twin

SIZE = 40
OTHERS = [
    Sampled(samples=10),
    Sampled(samples=10, odds="unigram"),
    Buckets(),
    Contrast(drawn=32),
    Negatives(drawn=32),
]
IDS = torch.arange(3, 24).view(3, 7)
AT = line(7, batch=3)


def head(objective: Objective, counts=None) -> Head:
    torch.manual_seed(0)
    return head_for(objective, Embedding(SIZE, 8), counts)


@pytest.mark.parametrize("objective", OTHERS, ids=str)
def test_used_it_is_the_whole_softmax_and_trained_it_is_not(objective) -> None:
    x = torch.randn(3, 7, 8)
    one, full = head(objective), head(Smoothing(amount=0.0))
    torch.testing.assert_close(one(x), full(x))
    words = torch.randperm(SIZE - 1)[None, :30] + 1
    words = torch.cat([words, IDS.view(1, -1)], 1).unique()[None]
    torch.testing.assert_close(one.eval().loss(x, IDS, AT, words).nll, full.loss(x, IDS, AT).nll)
    trained = one.train().loss(x, IDS, AT, words)
    assert not torch.isclose(trained.sum, full.loss(x, IDS, AT).sum)
    assert int(trained.weight) == IDS.numel() and trained.sum.requires_grad


@pytest.mark.parametrize("objective", [*OTHERS, Adaptive(cutoffs=(9, 20))], ids=str)
def test_it_learns_in_bf16_as_a_twin_does(objective) -> None:
    preset = vary(
        presets.get("transformer_lm_tiny")(), {"loss": objective, "model.dim": 16, "model.ff": 16}
    )
    model = build(preset.model, {"targets": SIZE}, True, preset.loss).train()
    twin = Twin(model)
    words = Rows(IDS.view(1, -1).unique()[None], line(21))
    batch = Batch({"targets": Rows(IDS, AT), "words": words})
    loss = twin.model.loss(batch)
    loss.sum.backward()
    gradient = torch.empty(sum(p.numel() for p in twin.low))
    twin.move_to(gradient)
    assert torch.isfinite(loss.sum) and torch.isfinite(gradient).all()
    assert loss.sum.dtype is torch.float32 and gradient.abs().sum() > 0


def test_a_vocabulary_no_larger_than_the_samples_is_looked_at_as_a_whole() -> None:
    x = torch.randn(3, 7, 8)
    full = head(Smoothing(amount=0.0)).loss(x, IDS, AT)
    torch.testing.assert_close(head(Sampled(samples=SIZE)).train().loss(x, IDS, AT), full)
    many = torch.arange(SIZE + 9)[None] % SIZE
    torch.testing.assert_close(head(Buckets()).train().loss(x, IDS, AT, many), full)


def test_buckets_without_words_are_refused() -> None:
    made = head(Buckets())
    assert isinstance(made, BucketHead)
    with pytest.raises(UsageError, match=r"--set batch.words=20000"):
        made.train().loss(torch.randn(3, 7, 8), IDS, AT)


def test_sampled_words_follow_the_counts_where_there_are_some() -> None:
    counts = [1] * SIZE
    counts[30] = 10_000
    by_count = head(Sampled(samples=5, odds="unigram"), counts)
    assert isinstance(by_count, SampledHead)
    assert float(by_count.noise.expected[30]) == 1 and float(by_count.noise.expected[1]) < 0.2
    by_rank = head(Sampled(samples=5), counts)
    assert isinstance(by_rank, SampledHead)
    assert by_rank.noise.expected[1] > by_rank.noise.expected[30]


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    made, x = head(Sampled(samples=10)).train(), torch.randn(3, 7, 8)
    found = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        found.append(made.loss(x, IDS, AT).sum.item())
    assert found[0] == found[1] != found[2]


def test_nothing_but_weights_is_saved() -> None:
    for objective in OTHERS:
        assert list(head(objective).state_dict()) == ["embedding.weight"]


def test_an_adaptive_head_has_no_matrix_to_lend() -> None:
    made = head(Adaptive(cutoffs=(9, 20)))
    with pytest.raises(UsageError, match="no single matrix"):
        made.embedding  # noqa: B018
    assert copy.deepcopy(made)(torch.randn(1, 2, 8)).shape == (1, 2, SIZE)


def test_a_config_that_says_no_kind_of_loss_is_of_smoothing() -> None:
    preset = presets.get("transformer_tiny")()
    data = to_json(preset)
    assert data["loss"] == {"kind": "smoothing", "amount": 0.1, "style": "t2t"}
    del data["loss"]["kind"]  # as it was written before there were others
    assert from_json(Preset, data) == preset
    other = vary(preset, {"loss": "sampled", "loss.samples": "64"})
    assert from_json(Preset, to_json(other)).loss == Sampled(samples=64)


def test_what_says_one_label_learns_by_the_whole_softmax() -> None:
    from heedful.models.building import _whole

    assert _whole(Smoothing()) == Smoothing()
    with pytest.raises(UsageError, match="not by loss=sampled"):
        _whole(Sampled())


def test_sampling_traces_in_one_piece(tmp_path) -> None:
    """In a process of its own, as the shape checks of these tests cannot be traced."""
    import subprocess
    import sys

    code = """
import torch, warnings
warnings.filterwarnings("ignore")
from heedful.modalities.heads import head_for
from heedful.modalities.symbols import Embedding
from heedful.nn.candidates import Sampled
from heedful.nn.contrast import Contrast
from heedful.nn.layout import line
for objective in (Sampled(samples=10), Contrast(drawn=16)):
    head = head_for(objective, Embedding(40, 8)).double().train()
    x, ids, at = torch.randn(3, 7, 8).double(), torch.arange(3, 24).view(3, 7), line(7, batch=3)
    traced = torch.compile(head.loss, backend="aot_eager", fullgraph=True)
    torch.manual_seed(0); one = traced(x, ids, at).sum
    torch.manual_seed(0); other = head.loss(x, ids, at).sum
    assert torch.isclose(one, other), (one, other)
    weight = head.embedding.weight
    same = [torch.autograd.grad(y, weight)[0] for y in (one, other)]
    assert torch.allclose(*same)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

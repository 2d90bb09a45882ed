"""Recorded steps: what a search finds with them is what it finds without."""

import random

import pytest
import torch

from heedful.data.batch import Batch, pad
from heedful.decoding import recorded as room
from heedful.decoding.recorded import Recorded
from heedful.decoding.search import decode
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS

SIZE = 11
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
    ),
]


def model(preset: str = "transformer_tiny", device: str = "cpu", **settings):
    torch.manual_seed(5)
    config = presets.get(preset)().model
    made = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    for weights in made.parameters():
        weights.data.mul_(2.0)  # so that what it says is not the same everywhere
    return made.to(device, torch.double).eval()


def sources(count: int, device: str, seed: int = 0) -> Batch:
    rng = random.Random(seed)
    lines = [
        [*(rng.randrange(3, SIZE) for _ in range(rng.randint(0, 9))), EOS] for _ in range(count)
    ]
    return Batch({"inputs": pad(lines)}).to(device)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few tokens and rows go through several shapes."""
    monkeypatch.setattr(room, "OUTPUT", 4)
    monkeypatch.setattr(room, "FEWEST", 2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("preset", ["transformer_tiny", "transformer_lm_tiny"])
@pytest.mark.parametrize(
    "config",
    [
        Decode(beam=3, nbest=2, extra_length=20),
        Decode(beam=1, extra_length=20),
        Decode(sample=True, nbest=2, extra_length=20),
        Decode(beam=2, coverage=0.2, extra_length=8),
    ],
    ids=["beam", "greedy", "sample", "coverage"],
)
def test_searches_find_the_same_with_recorded_steps(
    device: str, preset: str, config: Decode
) -> None:
    if config.coverage and "lm" in preset:
        pytest.skip("has no source to cover")
    plain = model(preset, device)
    taped = Recorded(plain)
    for seed in range(3):  # of the same shapes again: what was left on the slates must not be seen
        batch = sources(13, device, seed)
        one = decode(plain, batch, config)
        other = decode(plain, batch, config, recorded=taped)
        assert [[h.ids for h in row] for row in one] == [[h.ids for h in row] for row in other]
        for ours, theirs in zip(sum(one, []), sum(other, []), strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1e-5)
    assert bool(taped.tapes) is not bool(config.coverage)
    assert config.coverage or len({shape.output for shape in taped.tapes}) > 1

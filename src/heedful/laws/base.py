"""What a law is, and the model that is held to it."""

import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.models.base import Model, Tagger
from heedful.models.building import build
from heedful.models.classifier import Classifier, PairClassifier
from heedful.nn.losses import Smoothing
from heedful.presets.base import Preset
from heedful.registry import presets
from heedful.text.specials import EOS, RESERVED

SYMBOLS = 9  # of the made-up language the laws speak
VOCABULARY = RESERVED + SYMBOLS


class LawBroken(AssertionError):
    """A model did not keep a law."""


@dataclass(frozen=True)
class Pair:
    """A source and a target, as ids with their end symbols."""

    inputs: tuple[int, ...]
    targets: tuple[int, ...]


class Subject:
    """A model under examination: in double precision, in eval mode, on a made-up language."""

    def __init__(self, preset_name: str, settings: Mapping[str, Any] | None = None) -> None:
        self.name = preset_name
        self.preset: Preset = vary(presets.get(preset_name)(), settings or {})
        self.model = self.fresh().double().eval()

    def fresh(self, loss: Smoothing | None = None) -> Model:
        """A new model with the same random weights each time."""
        torch.manual_seed(0)
        sizes = {"inputs": VOCABULARY, "targets": VOCABULARY}
        return build(self.preset.model, sizes, shared=True, loss=loss or self.preset.loss)

    def pairs(self, count: int, seed: int = 0, longest: int = 7, shortest: int = 1) -> list[Pair]:
        """Random pairs of random lengths, in which ends do not count; a tagger's targets are as
        long as its inputs, a classifier's are one label, of two texts if it reads two."""
        rng = random.Random(seed)

        def draw(length: int) -> tuple[int, ...]:
            return (*(rng.randrange(RESERVED, VOCABULARY) for _ in range(length)), EOS)

        pairs = []
        for _ in range(count):
            first, second = (rng.randint(shortest, longest) for _ in range(2))
            second = first if isinstance(self.model, Tagger) else second
            more: tuple[int, ...] = ()
            if isinstance(self.model, Classifier):
                if isinstance(self.model, PairClassifier):  # together about as long as one
                    first, more = (first + 1) // 2, draw((second + 1) // 2)
                second = 1
            pairs.append(Pair((*draw(first), *more), draw(second)))
        return pairs

    def counted(self, pairs: Sequence[Pair]) -> int:
        """How many tokens a loss is over: all targets, but of a classifier the labels alone."""
        if isinstance(self.model, Classifier):
            return len(pairs)
        return sum(len(pair.targets) for pair in pairs)

    def batch(self, pairs: Sequence[Pair], extra: int = 0) -> Batch:
        """The pairs as a padded batch, with `extra` further padding on both sides."""
        inputs, targets = [p.inputs for p in pairs], [p.targets for p in pairs]
        return Batch(
            {
                "inputs": pad(inputs, max(map(len, inputs)) + extra),
                "targets": pad(targets, max(map(len, targets)) + extra),
            }
        )


Law = Callable[[Subject], None]
LAWS: dict[str, Law] = {}


def law(function: Law) -> Law:
    """Enrol a law under its function's name, which is the law said as a sentence."""
    LAWS[function.__name__] = function
    return function


def enrolled() -> list[str]:
    """The presets that stand for their families: every `*_tiny`."""
    return presets.names("*_tiny")


def check(preset_name: str, settings: Mapping[str, Any] | None = None) -> None:
    """Hold one preset's model, with these settings, to every law; raises `LawBroken` at the first
    that it breaks."""
    subject = Subject(preset_name, settings)
    for keep in LAWS.values():
        keep(subject)


def same(ours: Tensor, theirs: Tensor, what: str, tolerance: float = 1e-10) -> None:
    """Raise unless two tensors agree everywhere."""
    if ours.shape != theirs.shape:
        raise LawBroken(f"{what}: shapes {tuple(ours.shape)} and {tuple(theirs.shape)} differ")
    worst = float((ours - theirs).detach().abs().max()) if ours.numel() else 0.0
    if not worst <= tolerance:  # a NaN is not within any tolerance
        raise LawBroken(f"{what}: they differ by up to {worst:.3g}, more than {tolerance:.0e}")


for _room in (
    "exactness",
    "causality",
    "shortest",
    "learning",
    "resuming",
    "exporting",
    "watching",
):
    importlib.import_module(f"heedful.laws.{_room}")

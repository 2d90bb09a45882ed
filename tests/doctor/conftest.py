"""A made-up problem into which defects can be planted, and a small preset to try it with."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heedful.config import vary
from heedful.data.preparation import Prepared, prepare
from heedful.doctor.checkup import Checkup, check_data
from heedful.doctor.finding import Finding
from heedful.presets.base import Preset
from heedful.presets.transformer import tiny
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.runs.config import RunConfig
from heedful.text.base import Text
from heedful.text.subwords import Subwords

PAIRS = {
    "the": "der",
    "cat": "Katze",
    "house": "Haus",
    "garden": "Garten",
    "reads": "liest",
    "with": "zwischen",
    "under": "unter",
    "three": "drei",
    "would": "würde",
    "which": "welche",
    "through": "durch",
    "often": "oft",
    "thing": "Ding",
    "where": "wo",
}


@dataclass(frozen=True, kw_only=True)
class Planted(Problem):
    """Pairs as they are given, their sides apart by a tab."""

    train: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    text: Text = field(default_factory=lambda: Subwords(size=700))
    source: bool = True

    @property
    def features(self) -> dict[str, Feature]:
        both = {"inputs": Feature(self.text), "targets": Feature(self.text)}
        return both if self.source else {"targets": both["targets"]}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, VALID: None, TEST: None}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        for line in getattr(self, split):
            inputs, targets = line.split("\t")
            yield {"inputs": inputs, "targets": targets} if self.source else {"targets": targets}


def clean(count: int = 400, held: int = 120) -> dict[str, list[str]]:
    """Pairs without a fault: all different, and in two languages."""
    rng = random.Random(5)
    pairs: dict[str, None] = {}
    while len(pairs) < count + 2 * held:
        words = rng.choices(list(PAIRS), k=rng.randint(5, 9))
        pairs[f"{' '.join(words)}.\t{' '.join(PAIRS[word] for word in words)}."] = None
    lines = list(pairs)
    return {"train": lines[:count], "valid": lines[count:-held], "test": lines[-held:]}


def planted(lines: dict[str, list[str]], **fields: object) -> Planted:
    return Planted(**{split: tuple(pairs) for split, pairs in lines.items()}, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def small() -> Preset:
    return vary(
        tiny(),
        {
            "model.dim": 32,
            "model.ff": 64,
            "model.heads": 2,
            "model.layers": 1,
            "batch.tokens": 256,
            "batch.row": 64,
            "batch.longest": 64,
            "decode.beam": 2,
            "decode.extra_length": 3,
            "training.steps": 100,
        },
    )


Findings = dict[str, Finding]


def by_name(checkup: Checkup) -> Findings:
    return {finding.name: finding for finding in checkup.findings}


@pytest.fixture
def look(tmp_path: Path, small: Preset) -> Callable[..., Findings]:
    """`look(lines)`: what is found in them, by name."""

    def call(lines: dict[str, list[str]], most: int = 0, **fields: object) -> Findings:
        return by_name(
            check_data("planted", ready(planted(lines, **fields), tmp_path), small, most)
        )

    return call


def ready(problem: Problem, folder: Path) -> Prepared:
    return prepare("planted", problem, folder)


def run_config(problem: Problem, preset: Preset, name: str = "planted") -> RunConfig:
    return RunConfig(problem_name=name, problem=problem, preset_name="small", preset=preset)

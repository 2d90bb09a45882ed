"""Models of every exportable shape with random weights, and two small runs that learnt by heart."""

import random
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from heedful.cli.main import run as run_command
from heedful.config import vary
from heedful.models.base import Model
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets, problems
from heedful.text.base import Tokenizer
from heedful.text.symbols import SymbolTokenizer

DECODE = Decode(longest_input=40, extra_length=10)
SMALL = {"dim": 32, "heads": 4, "ff": 48, "layers": 2}
LEARNT = {
    "problem.text.size": 300,
    "loss.amount": 0.0,
    "model.dim": 32,
    "model.ff": 64,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "schedule.peak": 0.02,
    "schedule.warmup": 20,
    "schedule.steps": 150,
    "training.evaluate_every": 0,
    "training.evaluate_examples": 1,
    "training.average": 0,
    "training.checkpoint_every": 150,
    "decode.longest_input": 100,
    "decode.extra_length": 40,
}

Make = Callable[..., tuple[Model, dict[str, Tokenizer]]]
Follow = Callable[..., str]


@pytest.fixture
def make() -> Make:
    """`make("transformer_tiny", tie="none")`: a small model of a preset, every weight random, and
    tokenizers of its sizes."""

    def model(
        name: str, sizes: tuple[int, int] = (30, 30), **changes: Any
    ) -> tuple[Model, dict[str, Tokenizer]]:
        preset = presets.get(name)()
        fields = {key.replace("__", "."): value for key, value in changes.items()}
        config = vary(preset.model, {**SMALL, **fields})
        of = dict(zip(("inputs", "targets"), sizes, strict=True))
        one = SymbolTokenizer(sizes[0] - 3)
        shared = sizes[0] == sizes[1]
        made = build(config, of, shared, Smoothing())
        with torch.no_grad():
            for weight in made.parameters():
                weight.add_(torch.randn_like(weight) * 0.1)
        other = one if shared else SymbolTokenizer(sizes[1] - 3)
        return made.eval(), {"inputs": one, "targets": other}

    return model


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with sentences of the demo and their translations, and the sentences."""
    folder = tmp_path_factory.mktemp("text")
    problem = problems.get("translate_demo_en_fr")()
    pairs = list(islice(problem.examples("train", random.Random(1)), 16))
    for side, name in (("inputs", "en"), ("targets", "fr")):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return folder, [str(pair["inputs"]) for pair in pairs]


def learn(folder: Path, out: Path, *settings: str) -> Path:
    """A run that learnt these sentences by heart."""
    sides = [str(folder / name) for name in ("en", "fr", "en", "fr", "en", "fr")]
    options = ("source", "target", "valid-source", "valid-target", "test-source", "test-target")
    files = [
        part for option, side in zip(options, sides, strict=True) for part in (f"--{option}", side)
    ]
    changed = [f"{name}={value}" for name, value in LEARNT.items()]
    sets = [part for one in [*changed, *settings] for part in ("--set", one)]
    arguments = ["train", *files, "--preset", "transformer_demo", "--out", str(out)]
    assert run_command([*arguments, "--steps", "150", *sets]) == 0
    return out


@pytest.fixture(scope="session", params=["pre", "post"])
def learnt(
    request: pytest.FixtureRequest,
    lines: tuple[Path, list[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A run of each norm, one vocabulary."""
    out = tmp_path_factory.mktemp("runs") / request.param
    return learn(lines[0], out, f"model.norm={request.param}")


@pytest.fixture(scope="session")
def two_vocabularies(
    lines: tuple[Path, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run whose source and target have a vocabulary each."""
    out = tmp_path_factory.mktemp("runs") / "two"
    return learn(lines[0], out, "problem.shared=false", "model.norm=post")


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Follow:
    """`follow(folder, "I run.")`: what the code of the page in a folder prints, with this sentence
    for the page's, and other words for some of the page's."""

    def run(folder: Path, sentence: str = "", **words: str) -> str:
        code = (folder / "README.md").read_text(encoding="utf-8").split("```")[1]
        code = code.removeprefix("python\n").replace("A sentence.", sentence)
        for name, value in words.items():
            code, count = re.subn(rf"{name}=[^,)]+", f"{name}={value}", code)
            assert count == 1
        monkeypatch.chdir(folder)
        capsys.readouterr()
        exec(compile(code, "README.md", "exec"), {})
        return capsys.readouterr().out.strip()

    return run

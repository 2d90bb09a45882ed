"""What is measured where nobody says otherwise: large on a GPU, small on a CPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from heedful.bench.attention import Shape
from heedful.bench.layers import Size
from heedful.bench.sentences import NAME, MadeUp
from heedful.config import vary
from heedful.data.batching import Bucketed, Packed
from heedful.optim.schedules import Cosine
from heedful.peers import torch_recurrent
from heedful.presets.base import Preset
from heedful.problems.base import Problem
from heedful.registry import presets, problems
from heedful.runs.config import RunConfig

DEMO = "translate_demo_en_fr"
# Enough of it for a benchmark: it is endless, and making more takes time.
FEW = {
    "train_examples": 20_000,
    "valid_examples": 16,
    "test_examples": 1_024,
    "unseen_examples": 16,
    "coreference_examples": 16,
}
LONGEST = 256
SPARE = 3  # times as many made-up sentences as are worked through


@dataclass(frozen=True, kw_only=True)
class Often:
    """How many batches make a round, and how many rounds there are."""

    batches: int
    repeats: int
    warmup: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What `bench train` may be told of its model and data; None for what is usual."""

    preset: str | None = None
    problem: str | None = None
    vocabulary: int = 32_000
    tokens: int | None = None
    row: int | None = None
    dropout: float | None = None
    seed: int = 1
    of_preset: Mapping[str, Any] | None = None  # further changes, as --set makes them
    of_problem: Mapping[str, Any] | None = None


def often(device: torch.device) -> Often:
    if device.type == "cuda":
        return Often(batches=8, repeats=5, warmup=4)
    return Often(batches=24, repeats=5, warmup=1)


def train_config(asked: Asked, device: torch.device, batches: int) -> RunConfig:
    """The model and the data of `bench train`.

    On a GPU: transformer_base on made-up pairs, in rows of 1,024 that make 49,152 slots. On a CPU:
    the demo's preset on the demo's data, batched as the demo does. Dropout is only where every
    toolkit has it, on embeddings and on what each part adds, unless settings say otherwise.
    """
    large = device.type == "cuda"
    name = asked.preset or ("transformer_base" if large else "transformer_demo")
    demo = asked.problem is None and asked.preset is None and not large
    problem_name = asked.problem or (DEMO if demo else NAME)
    preset = presets.get(name)()
    changes: dict[str, Any] = {"training.seed": asked.seed}
    if hasattr(preset.model, "attention_dropout"):
        changes |= {"model.attention_dropout": 0.0, "model.relu_dropout": 0.0}
    dropout = asked.dropout if asked.dropout is not None or demo else 0.1
    if dropout is not None:
        changes["model.dropout"] = dropout
    if problem_name == NAME or asked.tokens is not None or asked.row is not None:
        row = asked.row or (1_024 if large else 256)
        tokens = asked.tokens or (48 * 1_024 if large else 4_096)
        longest = min(LONGEST, row)
        changes["batch"] = (
            Bucketed(tokens=tokens, longest=longest, multiple=8 if large else 1)
            if preset.model.kind in torch_recurrent.RECURRENT
            else Packed(tokens=tokens, row=row, longest=longest)
        )
    preset = vary(vary(preset, changes), asked.of_preset or {})
    return RunConfig(
        problem_name=problem_name,
        problem=vary(_problem(problem_name, preset, asked, batches), asked.of_problem or {}),
        preset_name=name,
        preset=preset,
    )


def _problem(name: str, preset: Preset, asked: Asked, batches: int) -> Problem:
    if name != NAME:
        return few(name)
    usual = MadeUp(vocabulary=asked.vocabulary, longest=preset.batch.limit, seed=asked.seed)
    worked = batches * preset.training.parts * preset.batch.tokens / usual.mean
    return vary(usual, {"train_examples": max(64, round(SPARE * worked))})


def few(name: str) -> Problem:
    """A problem; of the demo, no more examples than a benchmark needs."""
    problem = problems.get(name)()
    return vary(problem, FEW) if name == DEMO else problem


def stand_in_config(
    preset: str | None,
    problem: str | None,
    steps: int,
    seed: int,
    device: torch.device,
    of_preset: Mapping[str, Any],
    of_problem: Mapping[str, Any],
) -> RunConfig:
    """What `bench decode` trains for a moment where it is given no run."""
    name = preset or ("transformer_base" if device.type == "cuda" else "transformer_demo")
    chosen = presets.get(name)()
    changes = {
        "training.steps": steps,
        "training.seed": seed,
        "training.clip": 1.0,
        "training.evaluate_every": 0,
        "training.evaluate_examples": 16,
        "training.checkpoint_every": 0,
        "training.average": 0,
        "schedule": Cosine(peak=0.4 / chosen.model.dim, warmup=max(1, steps // 5), steps=steps),
    }
    problem = problem or DEMO
    return RunConfig(
        problem_name=problem,
        problem=vary(few(problem), of_problem),
        preset_name=name,
        preset=vary(vary(chosen, changes), of_preset),
    )


def dtype(device: torch.device) -> torch.dtype:
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def shape(device: torch.device) -> Shape:
    """Of attention: that which the relative kernels of music are compared at, on a GPU."""
    if device.type == "cuda":
        return Shape(batch=8, heads=8, length=2_048, width=64, dtype=dtype(device))
    return Shape(batch=1, heads=8, length=1_024, width=64, dtype=dtype(device))


def packed(device: torch.device) -> int:
    """Rows of packed sentences: as many as a step of training has, on a GPU."""
    return 48 if device.type == "cuda" else 0


def lengths(device: torch.device) -> tuple[int, ...]:
    """At which attention's memory is measured."""
    if device.type == "cuda":
        return (1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
    return (256, 512, 1_024, 2_048)


def sizes(device: torch.device) -> tuple[Size, dict[str, tuple[int, ...]]]:
    """Of the layers whose costs are compared: the usual one, and what each letter becomes."""
    if device.type == "cuda":
        return Size(n=4_096, d=512, k=3, r=256), {
            "n": (1_024, 2_048, 4_096, 8_192, 16_384),
            "d": (256, 512, 1_024, 2_048),
            "k": (3, 7, 15, 31),
            "r": (128, 256, 512, 1_024),
        }
    return Size(n=512, d=256, k=3, r=64), {
        "n": (256, 512, 1_024, 2_048),
        "d": (128, 256, 512),
        "k": (3, 7, 15),
        "r": (32, 64, 128, 256),
    }

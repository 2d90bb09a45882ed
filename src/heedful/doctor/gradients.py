"""Whether training here has the model's own gradients: kernels, half precision and all of them,
beside float64 on a CPU, weight by weight."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from heedful.config import vary
from heedful.data.batch import Batch
from heedful.models.base import Model
from heedful.presets.base import Preset
from heedful.training.step import TrainStep

LEAST = 0.01  # of the usual size of a gradient: smaller ones are compared with this
MOST = 1e6  # times: how far off what is no number is
SEEDS = (1, 2)


@dataclass(frozen=True)
class Distance:
    """How far a gradient is off at most, as a share of its size, and which weight's it is."""

    share: float
    weight: str


def still(preset: Preset) -> Preset:
    """A preset whose model forgets nothing at random."""
    names = [field.name for field in fields(preset.model) if field.name.endswith("dropout")]
    return vary(preset, {f"model.{name}": 0.0 for name in names})


def exactly(model: Model, batch: Batch) -> list[Tensor] | None:
    """The gradient in float64; None where it is not the same each time, since chance decides."""
    exact = copy.deepcopy(model).cpu().double()
    found = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        loss = exact.loss(batch.to("cpu")).sum
        weights = [p for p in exact.parameters() if p.requires_grad]
        slopes = torch.autograd.grad(loss, weights, allow_unused=True, materialize_grads=True)
        found.append(slopes)
    one, other = found
    return list(one) if all(map(torch.allclose, one, other)) else None


def compared(step: TrainStep, exact: Sequence[Tensor]) -> Distance:
    """The gradient that a step has collected beside the exact one."""
    shares = distances(step, exact)
    furthest = max(shares, key=lambda name: shares[name])
    return Distance(shares[furthest], furthest)


def distances(step: TrainStep, exact: Sequence[Tensor]) -> dict[str, float]:
    """How far the gradient of each weight is off, as a share of its size."""
    weights = {name: p for name, p in step.model.named_parameters() if p.requires_grad}
    whole = step.gradient.cpu().double()
    usual = math.sqrt(sum(float(slope.square().sum()) for slope in exact) / len(whole))
    shares = {}
    for name, ours, theirs in zip(
        weights, whole.split([p.numel() for p in weights.values()]), exact, strict=True
    ):
        size = max(float(theirs.norm()), LEAST * usual * math.sqrt(theirs.numel()))
        off = (ours.view_as(theirs) - theirs).norm().nan_to_num(math.inf)
        shares[name] = min(MOST, float(off) / size) if size else 0.0
    return shares

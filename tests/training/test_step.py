"""One step: accumulation, clipping, precision, and the guard."""

import copy
import math
from functools import partial

import pytest
import torch
from torch import Tensor

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.distributed.processes import Processes
from heedful.models.building import build
from heedful.nn.losses import Loss
from heedful.registry import presets
from heedful.training.guard import Guard, NonFinite
from heedful.training.step import TrainStep, mixed
from heedful.training.twin import Twin

CPU = Processes(torch.device("cpu"))
ROWS = [[3, 4, 5, 1], [5, 1], [4, 4, 1], [3, 5, 4, 3, 1], [4, 1], [5, 5, 5, 1], [3, 1], [4, 3, 1]]


def preset(**changes):
    small = {
        "model.dim": 16,
        "model.heads": 2,
        "model.ff": 32,
        "model.layers": 1,
        "model.dropout": 0.0,
        "model.attention_dropout": 0.0,
        "model.relu_dropout": 0.0,
        "schedule": "constant",
        "schedule.peak": 0.01,
    }
    return vary(presets.get("transformer_tiny")(), {**small, **changes})


def batch(numbers):
    rows = pad([ROWS[n] for n in numbers])
    return Batch({"inputs": rows, "targets": rows}, tuple(numbers))


def step(preset, ranks=CPU):
    torch.manual_seed(0)
    model = build(preset.model, {"inputs": 6, "targets": 6}, True, preset.loss)
    return TrainStep(model.train(), preset, ranks)


def test_four_parts_are_one_batch_of_the_same_rows():
    whole, parts = step(preset()), step(preset())
    for number in (1, 2, 3):
        one = whole(number, [batch(range(8))])
        many = parts(number, [batch([0, 1]), batch([2, 3]), batch([4, 5]), batch([6, 7])])
        torch.testing.assert_close(one.sums, many.sums, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(whole.gradient, parts.gradient, rtol=1e-4, atol=1e-6)


def test_the_gradient_is_that_of_the_mean_over_target_tokens():
    taken = step(preset())
    reference = step(preset()).model
    loss = reference.loss(batch(range(8)))
    mean = loss.sum / loss.weight
    expected = torch.autograd.grad(mean, list(reference.parameters()))
    outcome = taken(1, [batch(range(8))])
    for parameter, gradient in zip(taken.model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)
    assert outcome.sums[1] == sum(map(len, ROWS))
    assert float(outcome.sums[0] / outcome.sums[1]) == pytest.approx(mean.item(), rel=1e-5)


def test_clipping_bounds_the_norm_and_leaves_a_small_gradient_alone():
    free, clipped = step(preset()), step(preset(**{"training.clip": 0.01}))
    norm = free(1, [batch(range(8))]).sums[3]
    assert norm > 0.01
    assert clipped(1, [batch(range(8))]).sums[3] == norm  # what is told is the norm before
    assert float(clipped.gradient.norm()) == pytest.approx(0.01, rel=1e-4)
    torch.testing.assert_close(clipped.gradient, free.gradient * (0.01 / norm.float()))
    loose = step(preset(**{"training.clip": 1e9}))
    loose(1, [batch(range(8))])
    torch.testing.assert_close(loose.gradient, free.gradient)


def test_a_step_is_a_function_of_seed_and_number_and_nothing_else():
    config = preset(**{"model.dropout": 0.5})
    one, two = step(config), step(config)
    first = one(1, [batch(range(8))])
    torch.manual_seed(12345)
    torch.rand(7)
    second = two(1, [batch(range(8))])
    assert torch.equal(first.sums, second.sums)
    assert not torch.equal(one(2, [batch(range(8))]).part_losses, first.part_losses)


def test_seeds_of_neighbours_differ():
    seeds = {
        mixed(seed, step, part) for seed in range(5) for step in range(20) for part in range(5)
    }
    assert len(seeds) == 500
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_bf16_computes_low_and_keeps_weights_high():
    high, low = (
        step(preset(**{"training.precision": "fp32"})),
        step(preset(**{"training.precision": "bf16"})),
    )
    a, b = high(1, [batch(range(8))]).sums, low(1, [batch(range(8))]).sums
    assert not torch.equal(a, b)
    torch.testing.assert_close(a, b, rtol=0.05, atol=0.1)
    assert all(p.dtype == torch.float32 for p in low.model.parameters())


def with_twin(taken):
    """The same step as a GPU takes it."""
    taken.twin = Twin(taken.model)
    taken.loss = taken.twin.model.loss
    return taken


def test_the_twin_follows_the_weights_and_its_gradient_is_added_in_full_precision():
    taken = with_twin(step(preset()))
    with torch.no_grad():  # as when a checkpoint is loaded before the first step
        for weight in taken.model.parameters():
            weight.mul_(1.5)
    for number in (1, 2):
        taken(number, [batch([0, 1]), batch([2, 3])])
        for weight, low in zip(taken.model.parameters(), taken.twin.low, strict=True):
            assert torch.equal(weight.bfloat16(), low)
    one, other = (with_twin(step(preset())) for _ in range(2))
    parts = [batch([0, 1]), batch([2, 3])]
    one(1, parts)
    alone = [copy.deepcopy(other.gradient) for _ in parts]
    for part, gradient in zip(parts, alone, strict=True):
        other.learn(part, True)
        gradient.copy_(other.gradient)
    tokens = one.sums[1]
    assert torch.equal(one.gradient, (alone[0] + alone[1]).div_(tokens))


def test_a_weight_that_has_no_gradient_moves_zeros() -> None:
    twin = with_twin(step(preset())).twin
    gradient = torch.ones(sum(p.numel() for p in twin.low))
    twin.low[0].grad = torch.full_like(twin.low[0], 2)
    twin.move_to(gradient)
    own = twin.low[0].numel()
    assert gradient[:own].unique().tolist() == [2] and not gradient[own:].any()
    assert twin.low[0].grad is None


class Sick(torch.nn.Module):
    """A model whose loss, or only its gradient, goes wrong on one example."""

    def __init__(self, example: int, by: str) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.example, self.by = example, by

    def loss(self, batch: Batch) -> Loss:
        total: Tensor = self.weight.sum()
        if self.example in batch.examples:
            total = (
                total * math.nan if self.by == "loss" else total + (self.weight * 0).sqrt().sum()
            )
        return Loss(total, torch.tensor(3), total.detach())


@pytest.mark.parametrize(
    ("by", "named", "said"),
    [("loss", [40, 41], "loss is nan"), ("gradient", [40, 41, 50], "gradient is not finite")],
)
def test_the_guard_stops_at_the_step_and_names_the_batch(by, named, said):
    sick = TrainStep(Sick(41, by), preset(), CPU)
    guard = Guard(CPU)
    rows = pad([[1]])
    parts = [Batch({"targets": rows}, e) for e in ((40, 41), (50,))]
    guard.watch(6, parts[1:], sick(6, parts[1:]))
    outcome = sick(7, parts)
    with pytest.raises(NonFinite, match=f"step 7: the {said}") as stopped:
        guard.watch(7, parts, outcome)
    assert stopped.value.examples == named and stopped.value.step == 7
    assert ", ".join(map(str, named)) in str(stopped.value)


def test_a_guard_on_a_gpu_looks_only_when_asked_and_still_names_the_first():
    class Elsewhere:
        type = "cuda"

    sick = TrainStep(Sick(41, "loss"), preset(), CPU)
    guard = Guard(Processes(Elsewhere()))  # type: ignore[arg-type]
    batches = [[Batch({"targets": pad([[1]])}, (number,))] for number in (40, 41, 42)]
    for number, parts in enumerate(batches, 1):
        guard.watch(number, parts, sick(number, parts))
    with pytest.raises(NonFinite, match="step 2: the loss is nan") as stopped:
        guard.check()
    assert stopped.value.examples == [41]
    guard.check()


def test_compiling_changes_neither_losses_nor_names(monkeypatch):
    # The plainest backend, and a model without checked shapes: what is tried is our use of it.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    plain = TrainStep(Sick(-1, "loss"), preset(), CPU)
    compiled = TrainStep(Sick(-1, "loss"), preset(**{"training.compile": True}), CPU)
    assert compiled.loss != compiled.model.loss
    parts = [Batch({"targets": pad([[1]])}, (1,))]
    for number in (1, 2):
        assert torch.equal(plain(number, parts).sums, compiled(number, parts).sums)
    assert list(plain.model.state_dict()) == list(compiled.model.state_dict()) == ["weight"]

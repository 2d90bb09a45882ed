"""Batches that do not fit in memory are taken in halves, and what is learnt stays the same."""

import copy

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.distributed.processes import Processes
from heedful.errors import HeedfulError
from heedful.models.building import build
from heedful.registry import presets
from heedful.training.fitting import Fitting, about_memory, halves, slots
from heedful.training.step import TrainStep
from heedful.training.twin import Twin

ROWS = [[3, 4, 5, 1], [5, 1], [4, 4, 1], [3, 5, 4, 3, 1], [4, 1], [5, 5, 5, 1], [3, 1], [4, 3, 1]]
PLAIN = {"model.dropout": 0.0, "model.attention_dropout": 0.0, "model.relu_dropout": 0.0}


def batch(numbers) -> Batch:
    rows = pad([ROWS[n] for n in numbers], 5)
    return Batch({"inputs": rows, "targets": rows}, tuple(numbers))


def step(twin: bool = False) -> TrainStep:
    preset = vary(presets.get("transformer_tiny")(), {**PLAIN, "training.precision": "fp32"})
    torch.manual_seed(0)
    model = build(preset.model, {"inputs": 6, "targets": 6}, True, preset.loss)
    taken = TrainStep(model.train(), preset, Processes(torch.device("cpu")))
    if twin:  # as on a GPU
        taken.twin = Twin(model)
        taken.loss = taken.twin.model.loss
    return taken


class Small:
    """A loss that has room for so many rows; beyond it fails on the way back, half done."""

    def __init__(self, step: TrainStep, room: int) -> None:
        self.loss, self.room, self.tries = step.loss, room, []
        step.loss = self

    def __call__(self, part: Batch):
        rows = len(part.inputs.ids)
        self.tries.append(rows)
        loss = self.loss(part)
        if rows > self.room:
            (0.5 * loss.sum).backward(retain_graph=True)
            loss.sum.register_hook(out_of_memory)
        return loss


def out_of_memory(_):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3.00 GiB\nand more")


@pytest.mark.parametrize("twin", [False, True])
def test_halves_learn_what_the_whole_learns(twin) -> None:
    plain, small = step(twin), step(twin)
    said: list[str] = []
    room = Small(small, 2)
    take = Fitting(small, said.append)
    for number in (1, 2):
        parts = [batch(range(8)), batch([0, 1, 2])]
        one, other = plain(number, parts), take(number, parts)
        torch.testing.assert_close(one.sums, other.sums, rtol=2e-2, atol=1e-3)
        torch.testing.assert_close(one.part_losses, other.part_losses, rtol=2e-2, atol=1e-3)
    close = {"rtol": 1e-4, "atol": 1e-6} if not twin else {"rtol": 0.1, "atol": 2e-2}
    for a, b in zip(plain.parameters, small.parameters, strict=True):
        torch.testing.assert_close(a, b, **close)
    # The first step finds out what fits; in the second nothing is tried that does not.
    assert room.tries[:2] == [8, 4] and max(room.tries[-6:]) == 2
    assert "a batch of 40 tokens a side does not fit" in said[0]
    assert "training examples 0, 1, 2, 3, 4, 5, 6, 7)" in said[0]


def test_a_row_that_does_not_fit_alone_is_named() -> None:
    small = step()
    Small(small, 0)
    with pytest.raises(HeedfulError, match="a single row of 5 tokens does not fit.*examples 3"):
        Fitting(small, lambda _: None)(1, [batch([3])])


def test_other_errors_are_not_taken_for_it() -> None:
    broken = step()
    before = copy.deepcopy(broken.gradient)

    def wrong(_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    broken.loss = wrong
    with pytest.raises(RuntimeError, match="mat1"):
        Fitting(broken, lambda _: None)(1, [batch([0])])
    assert torch.equal(broken.gradient, before)


def test_what_is_about_memory() -> None:
    assert about_memory(MemoryError())
    assert about_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"))
    assert not about_memory(RuntimeError("shapes differ"))


def test_halves_have_all_rows() -> None:
    whole = batch([0, 1, 2])
    upper, lower = halves(whole)
    assert torch.equal(torch.cat([upper.inputs.ids, lower.inputs.ids]), whole.inputs.ids)
    assert slots(upper) == 10 and slots(lower) == 5

"""Steps that are recorded on a GPU and replayed: what they compute is what plain steps compute."""

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, Rows, pad
from heedful.distributed.processes import Processes
from heedful.models.building import build
from heedful.nn.layout import Layout
from heedful.registry import presets
from heedful.training import capture
from heedful.training.capture import MOST, PLAIN, Mould, shape
from heedful.training.fitting import Fitting
from heedful.training.step import TrainStep


def batch(seed: int, length: int = 6) -> Batch:
    draw = torch.Generator().manual_seed(seed)
    rows = pad([torch.randint(3, 9, (length,), generator=draw).tolist() for _ in range(4)])
    return Batch({"inputs": rows, "targets": rows}, (seed,))


def steps(capture: bool, numbers: range, start: TrainStep | None = None) -> TrainStep:
    """A model after these steps of two parts each; from a copy of `start`, as if resumed."""
    preset = vary(
        presets.get("transformer_tiny")(),
        {"model.dropout": 0.3, "training.capture": capture, "training.clip": 0.5},
    )
    torch.manual_seed(0)
    model = build(preset.model, {"inputs": 9, "targets": 9}, True, preset.loss).cuda().train()
    taken = TrainStep(model, preset, Processes(torch.device("cuda")))
    if start is not None:
        model.load_state_dict(start.model.state_dict())
        taken.optimizer.load_state_dict(start.optimizer.state_dict())
    for number in numbers:
        taken(number, [batch(number), batch(100 + number)])
    return taken


@pytest.mark.gpu
def test_recorded_steps_are_the_plain_ones_bit_for_bit() -> None:
    plain, recorded = steps(False, range(1, 12)), steps(True, range(1, 12))
    assert plain.recorder is None
    assert recorded.recorder is not None and recorded.recorder.moved is not None
    assert len(recorded.recorder.moulds) == 2  # for the first part of a step, and for the other
    for one, other in zip(plain.parameters, recorded.parameters, strict=True):
        assert torch.equal(one, other)


@pytest.mark.gpu
def test_resumed_where_others_were_recorded_goes_on_the_same() -> None:
    whole = steps(True, range(1, 15))
    resumed = steps(True, range(9, 15), start=steps(True, range(1, 9)))
    for one, other in zip(whole.parameters, resumed.parameters, strict=True):
        assert torch.equal(one, other)


@pytest.mark.gpu
def test_no_more_shapes_are_recorded_than_have_room() -> None:
    taken = steps(True, range(1, 2))
    for length in range(2, MOST + 6):
        for _ in range(PLAIN + 1):
            taken(1, [batch(0, length)])
    assert taken.recorder is not None and len(taken.recorder.moulds) == MOST


def test_a_mould_takes_what_is_poured_and_makes_masks_anew() -> None:
    first, second = batch(1), batch(2)
    mould, before = Mould(first, torch.device("cpu")), first.inputs.ids.clone()
    one = mould.batch()
    one.inputs.at.seen["mask"] = "of the first"
    mould.pour(second)
    again = mould.batch()
    assert torch.equal(again.inputs.ids, second.inputs.ids)
    assert torch.equal(first.inputs.ids, before)
    assert torch.equal(again.targets.at.segments, second.targets.at.segments)
    assert again.inputs.ids.data_ptr() == one.inputs.ids.data_ptr()
    assert not again.inputs.at.seen


def test_batches_of_one_shape_fit_one_mould() -> None:
    assert shape(batch(1)) == shape(batch(2)) != shape(batch(1, length=7))
    rows = batch(1).inputs
    alone = Batch({"targets": Rows(rows.ids, Layout(rows.at.positions, rows.at.segments))})
    assert shape(alone) != shape(batch(1))


def test_what_cannot_be_recorded_stays_plain_and_is_said_once(monkeypatch) -> None:
    def refuses(function, pool):
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))
    monkeypatch.setattr(capture, "Recorded", refuses)
    preset = vary(presets.get("transformer_tiny")(), {"training.precision": "fp32"})
    model = build(preset.model, {"inputs": 9, "targets": 9}, True, preset.loss).train()
    step = TrainStep(model, preset, Processes(torch.device("cpu")))
    step.recorder = capture.Recorder(step.learn, step.move, torch.device("cpu"))
    said: list[str] = []
    take = Fitting(step, said.append)
    losses = [float(take(1 + n, [batch(0)]).sums[0]) for n in range(PLAIN + 3)]
    assert losses[-1] < losses[0]
    assert said == [
        "steps cannot be recorded and stay plain: operation not permitted when stream is capturing"
    ]

"""The gradient that a step collects is the model's own: weight by weight what float64 gives.

Part by part kernels are tested beside them; here all of them are at work together, at widths and
lengths that they are for. On a GPU as plain, recorded and compiled steps.
"""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from heedful.config import vary
from heedful.data.batch import Batch, Rows
from heedful.distributed.processes import Processes
from heedful.doctor.gradients import Distance, compared, distances, exactly, still
from heedful.models.base import Model
from heedful.models.building import build
from heedful.nn import products
from heedful.nn.layout import Layout
from heedful.nn.products import has_onednn
from heedful.presets.base import Preset
from heedful.registry import presets
from heedful.training.capture import PLAIN
from heedful.training.step import TrainStep

SIZE = 1_000  # ids
FAR = {"fp32": 1e-3, "bf16": 0.15}  # of a weight's gradient; one that is something else has 1
# The slope of a true label, nearly -0.9, is as far off for every token where it has eight bits, as
# on a GPU. The last norm's bias is the sum of all, most of which cancels, and keeps that: it is off
# by half in plain PyTorch on a CPU too, where all is in bf16.
CANCELS, FAR_IF_IT_CANCELS = "body.decoder.norm.bias", 0.8
MODES = {
    "plain": {"training.compile": False, "training.capture": False},
    "recorded": {"training.compile": False, "training.capture": True},
    "compiled": {"training.compile": True, "training.capture": True},
}
TRANSFORMERS = {
    "transformer_tiny": {"model.dim": 256, "model.heads": 4, "model.ff": 1_024},
    "transformer_lm_tiny": {"model.dim": 512, "model.heads": 8, "model.ff": 2_048},
}
RECURRENT = ("lstm_seq2seq_tiny", "rnn_encoder_decoder_tiny", "rnn_search_tiny", "luong_tiny")


def sentences(rows: int, length: int, packed: bool) -> Rows:
    """Rows of sentences of several lengths: as many as fit, or one a row."""
    draw = torch.Generator().manual_seed(rows + length)
    positions, segments = (torch.zeros(rows, length, dtype=torch.long) for _ in range(2))
    for row in range(rows):
        begin = number = 0
        while begin < length and (packed or not number):
            end = min(
                length, begin + int(torch.randint(length // 8, length // 2, (), generator=draw))
            )
            number += 1
            positions[row, begin:end] = torch.arange(end - begin)
            segments[row, begin:end] = number
            begin = end
    ids = torch.randint(3, SIZE, (rows, length), generator=draw).masked_fill(segments == 0, 0)
    return Rows(ids, Layout(positions, segments, filled="packed" if packed else "padded"))


def made(name: str, **changes: object) -> tuple[Preset, Model]:
    preset = still(vary(presets.get(name)(), changes))
    torch.manual_seed(0)
    sizes = {"targets": SIZE} if "_lm_" in name else {"inputs": SIZE, "targets": SIZE}
    return preset, build(preset.model, sizes, True, preset.loss).train()


def batch(model: Model, rows: Rows) -> Batch:
    return Batch({"targets": rows} if model.inputs is None else {"inputs": rows, "targets": rows})


def furthest(preset: Preset, model: Model, rows: Rows, device: str) -> Distance:
    """How far off the gradient of a weight is at most."""
    return compared(*learnt(preset, model, rows, device))


def learnt(
    preset: Preset, model: Model, rows: Rows, device: str
) -> tuple[TrainStep, Sequence[Tensor]]:
    """A step that has collected a gradient, and the exact one."""
    exact = exactly(model, batch(model, rows))
    assert exact is not None
    step = TrainStep(model.to(device), preset, Processes(torch.device(device)))
    for number in range(1, PLAIN + 3):  # weights do not move; the last is replayed, if any is
        step.collect(number, [batch(model, rows)])
    if preset.training.capture and device == "cuda":
        assert step.recorder is not None and step.recorder.moulds
    return step, exact


@pytest.mark.parametrize("precision", FAR)
@pytest.mark.parametrize("name", [*TRANSFORMERS, *RECURRENT])
def test_on_a_cpu_it_is_what_float64_gives(name: str, precision: str) -> None:
    preset, model = made(name, **{"training.precision": precision})
    distance = furthest(preset, model, sentences(2, 24, name in TRANSFORMERS), "cpu")
    assert distance.share < FAR[precision], distance


@pytest.mark.skipif(not has_onednn(), reason="this PyTorch has no way to oneDNN")
@pytest.mark.parametrize("name", [*TRANSFORMERS, *RECURRENT])
def test_on_a_cpu_it_is_so_by_onednn_too(name: str, monkeypatch) -> None:
    monkeypatch.setattr(products, "held_back", lambda: True)
    monkeypatch.setattr(products, "LARGE", 1)
    preset, model = made(name, **{"training.precision": "fp32"})
    distance = furthest(preset, model, sentences(2, 24, name in TRANSFORMERS), "cpu")
    assert distance.share < FAR["fp32"], distance


def test_a_gradient_that_is_another_is_told(monkeypatch) -> None:
    preset, model = made("transformer_lm_tiny", **{"training.precision": "fp32"})
    learn = TrainStep.learn

    def wrong(step: TrainStep, part: Batch, first: bool) -> Tensor:
        loss = learn(step, part, first)
        weights = dict(step.model.named_parameters())
        slope = weights["body.decoder.layers.1.feed_forward.inner.weight"].grad
        assert slope is not None
        slope.copy_(slope.roll(1))
        return loss

    monkeypatch.setattr(TrainStep, "learn", wrong)
    distance = furthest(preset, model, sentences(2, 24, True), "cpu")
    assert distance.share > 0.9
    assert distance.weight.endswith("layers.1.feed_forward.inner.weight")


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("precision", FAR)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_on_a_gpu_it_is_what_float64_gives(name: str, precision: str, mode: str) -> None:
    torch.compiler.reset()
    changes = {**TRANSFORMERS[name], **MODES[mode], "training.precision": precision}
    preset, model = made(name, **changes)
    for rows, length in ((16, 256), (4, 1_024)):  # whole tiles of every kernel
        shares = distances(*learnt(preset, model, sentences(rows, length, True), "cuda"))
        if precision == "bf16":
            assert shares.pop(CANCELS) < FAR_IF_IT_CANCELS, length
        assert max(shares.values()) < FAR[precision], (length, shares)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["plain", "recorded"])
@pytest.mark.parametrize("precision", FAR)
@pytest.mark.parametrize("name", RECURRENT)
def test_on_a_gpu_recurrent_models_have_it_too(name: str, precision: str, mode: str) -> None:
    preset, model = made(name, **{**MODES[mode], "training.precision": precision})
    distance = furthest(preset, model, sentences(64, 24, False), "cuda")
    # PyTorch lets cuDNN multiply in TF32, ten bits and a sign.
    assert distance.share < max(0.03, FAR[precision]), distance

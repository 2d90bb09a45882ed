"""Training with products in bf16 on a CPU: the same weights, nearly the same gradient, and as exact
as ever when a run goes on or is shared."""

import subprocess
import sys

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.distributed.processes import Processes
from heedful.laws import Subject, enrolled
from heedful.models.building import build
from heedful.nn.candidates import Sampled
from heedful.nn.low import LowLinear
from heedful.nn.products import Linear
from heedful.registry import presets
from heedful.training.low import WIDE, LowHead, is_low, with_low_products
from heedful.training.step import TrainStep

CPU, GPU = torch.device("cpu"), torch.device("cuda")
LAUNCH = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
PLAIN = {"model.dropout": 0.0, "model.attention_dropout": 0.0, "model.relu_dropout": 0.0}


def preset(**changes):
    return vary(presets.get("transformer_tiny")(), {**PLAIN, **changes})


def made(preset, size: int = 60):
    torch.manual_seed(0)
    return build(preset.model, {"inputs": size, "targets": size}, True, preset.loss).train()


def batch() -> Batch:
    torch.manual_seed(1)
    rows = pad([[*torch.randint(2, 60, (length,)).tolist(), 1] for length in (3, 9, 17, 30) * 4])
    return Batch({"inputs": rows, "targets": rows}, tuple(range(16)))


def learnt(precision: str) -> TrainStep:
    asked = preset(**{"training.precision": precision})
    step = TrainStep(made(asked), asked, Processes(CPU))
    step(1, [batch()])
    return step


def test_every_gradient_is_near_that_of_fp32() -> None:
    high, low = learnt("fp32"), learnt("bf16")
    assert low.twin is None and float(low.sums[0] / high.sums[0]) == pytest.approx(1, abs=1e-3)
    names = [name for name, _ in high.model.named_parameters()]
    for name, one, other in zip(names, high.parameters, low.parameters, strict=True):
        assert one.grad is not None and other.grad is not None
        apart = (one.grad - other.grad).norm().item() / one.grad.norm().item()
        assert 0 < apart < 0.03, name


@pytest.mark.parametrize("name", enrolled())
def test_every_model_learns_nearly_the_same(name) -> None:
    subject = Subject(name)
    model, given = subject.fresh().eval(), subject.batch(subject.pairs(6))
    found = []
    for one in (model, with_low_products(model)):
        model.zero_grad()
        one.loss(given).sum.backward()
        slopes = [p.grad for p in model.parameters() if p.grad is not None]
        found.append(torch.cat([slope.flatten() for slope in slopes]))
    assert 0 < (found[0] - found[1]).norm().item() / found[0].norm().item() < 0.05


def test_the_weights_are_the_very_same() -> None:
    model = made(preset())
    low = with_low_products(model)
    assert low is not model and low.loss(batch()).sum.item() != model.loss(batch()).sum.item()
    for one, other in zip(model.parameters(), low.parameters(), strict=True):
        assert one is other and one.dtype == torch.float32
    assert any(isinstance(part, LowLinear) for part in low.modules())
    assert type(low.head) is LowHead
    # What evaluates is the model itself, and it is as it was.
    kinds = {type(part) for part in model.modules()}
    assert Linear in kinds and not kinds & {LowLinear, LowHead}


def test_a_head_that_looks_at_few_words_stays_as_it_is() -> None:
    model, given = made(preset(loss=Sampled(samples=9))), batch()
    low = with_low_products(model)
    assert type(low.head) is type(model.head)
    found = []
    for one in (model, low):
        torch.manual_seed(2)  # of the words that are drawn
        found.append(one.loss(given).sum.item())
    assert found[0] != found[1] == pytest.approx(found[0], rel=0.01)


def test_auto_takes_it_for_wide_models_where_the_processor_can(monkeypatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    narrow = preset(**{"model.dim": WIDE // 2})
    assert is_low(preset(**{"model.dim": WIDE}), CPU) and not is_low(narrow, CPU)
    assert is_low(vary(narrow, {"training.precision": "bf16"}), CPU)
    assert not is_low(preset(**{"training.precision": "fp32"}), CPU)
    for name in ("avx512_bf16", "amx_tile"):
        monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda: False)
    assert not is_low(preset(), CPU)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert is_low(preset(), GPU) and is_low(narrow, GPU)


LOW = {"training.precision": "bf16"}


def test_a_run_goes_on_bit_for_bit_and_two_processes_train_as_one(run, whole) -> None:
    run("once", LOW)
    run("twice", {**LOW, "training.steps": 8})
    run("twice", LOW, resume=True)
    one = run.tensors("once", 12)
    assert any(not torch.equal(one[key], other) for key, other in whole.tensors("run", 12).items())
    for key, tensor in run.tensors("twice", 12).items():
        assert torch.equal(one[key], tensor), key
    done = subprocess.run(
        run.command("shared", LOW, launcher=LAUNCH),
        capture_output=True, text=True, env=run.environment(), timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for a, b in zip(run.log("shared"), run.log("once"), strict=True):
        if a["kind"] == "train":
            assert a["loss"] == pytest.approx(b["loss"], abs=1e-5) and a["tokens"] == b["tokens"]
    for key, tensor in run.tensors("shared", 12).items():
        torch.testing.assert_close(one[key], tensor, rtol=1e-3, atol=1e-4)

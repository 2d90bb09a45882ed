"""The run is tried: what it takes is measured, and what cannot be is a finding."""

import math
from collections import namedtuple
from types import SimpleNamespace

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch
from heedful.data.batching import Bucketed
from heedful.doctor import trial
from heedful.doctor.finding import Finding
from heedful.doctor.patient import Patient
from heedful.doctor.trial import Trial, duration, try_run
from heedful.errors import HeedfulError
from heedful.presets.transformer import encoder_tiny, lm_tiny
from heedful.training.step import TrainStep

from .conftest import clean, planted, ready, run_config

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def lines() -> dict[str, list[str]]:
    return clean(count=300, held=10)


@pytest.fixture
def tried(tmp_path, small, lines):
    """`tried({"batch.tokens": 64})`: the findings by name, and the numbers."""

    def call(changes=None, preset=small, **fields) -> tuple[dict[str, Finding], dict]:
        problem = planted(lines, **fields)
        config = run_config(problem, vary(preset, changes or {}))
        made: Trial = try_run(config, ready(problem, tmp_path), CPU, tmp_path)
        return {f.name: f for f in made.findings}, made.numbers

    return call


def test_a_run_that_is_well_has_all_its_numbers(tried) -> None:
    found, numbers = tried()
    assert {f.level for f in found.values()} == {"ok"}
    names = "parameters padding longest_batch budget speed time disk decode gradients"
    assert list(found) == names.split()
    assert numbers["parameters"] == found["parameters"].number > 20_000
    assert 0 < numbers["padding"] < 0.25 and 0 < numbers["seconds_per_step"] < 5
    assert numbers["seconds_to_finish"] == pytest.approx(100 * numbers["seconds_per_step"])
    assert numbers["target_tokens_per_second"] < numbers["tokens_per_second"]
    assert numbers["longest_batch"]["shape"] == {"inputs": [4, 64], "targets": [4, 64]}
    assert numbers["budget"]["tokens"] > 256 and not numbers["budget"]["measured"]
    assert numbers["decode"] == {
        "examples": 4,
        "seconds": numbers["decode"]["seconds"],
        "failed": 0,
    }


def test_gradients_that_are_not_the_models_own_are_a_problem(tried, monkeypatch) -> None:
    found, numbers = tried()
    assert found["gradients"].level == "ok" and 0 < numbers["gradients"]["share"] < 0.2
    learn, name = TrainStep.learn, "body.encoder.layers.0.feed_forward.inner.weight"

    def wrong(step: TrainStep, part: Batch, first: bool) -> torch.Tensor:
        loss, slope = learn(step, part, first), dict(step.model.named_parameters())[name].grad
        assert slope is not None
        slope.copy_(slope.roll(1))
        return loss

    monkeypatch.setattr(TrainStep, "learn", wrong)
    found, numbers = tried()
    assert found["gradients"].level == "problem" and name in found["gradients"].title
    assert numbers["gradients"] == {"share": found["gradients"].number, "weight": name}
    monkeypatch.setattr(TrainStep, "learn", lambda step, *_: step.gradient.fill_(math.nan)[0])
    assert tried()[0]["gradients"].level == "problem"


def test_gradients_that_chance_decides_are_not_compared(tried) -> None:
    found, numbers = tried({"loss": "sampled", "loss.samples": 5})
    assert "chance" in found["gradients"].title and "gradients" not in numbers


def test_gradients_that_memory_cannot_hold_are_not_compared(tried, monkeypatch) -> None:
    monkeypatch.setattr(trial, "exactly", lambda *_: (_ for _ in ()).throw(MemoryError()))
    found, _ = tried()
    assert "memory" in found["gradients"].title and found["gradients"].level == "ok"


def test_a_checkpoint_is_weights_and_two_moments(tried) -> None:
    _, numbers = tried({"training.keep_last": 2, "training.checkpoint_every": 10})
    one = numbers["disk"]["checkpoint_bytes"]
    assert one == pytest.approx(3 * 4 * numbers["parameters"], rel=0.01)
    assert numbers["disk"]["bytes"] == 4 * one  # two, the best, and the one being written
    _, numbers = tried({"training.ema": 0.9, "training.disk_cap_gb": 1e-9, "training.average": 2})
    weights = numbers["disk"]["checkpoint_bytes"] - one
    assert weights == pytest.approx(4 * numbers["parameters"], rel=0.01)
    assert numbers["disk"]["bytes"] == one + weights + 1 + weights


def test_epochs_are_counted_from_the_tokens_of_a_step(tried, lines, tmp_path) -> None:
    _, numbers = tried({"training.parts": 3})
    train = ready(planted(lines), tmp_path).split("train")
    total = int(train.lengths["targets"].sum())
    a_step = numbers["target_tokens_per_second"] * numbers["seconds_per_step"]
    assert numbers["epochs"] == pytest.approx(100 * a_step / total)
    assert 2 * 256 < a_step <= 3 * 256


def test_the_longest_batch_of_buckets_is_full_of_the_longest_examples(
    tmp_path, small, lines
) -> None:
    problem = planted(lines)
    prepared = ready(problem, tmp_path)
    config = run_config(problem, vary(small, {"batch": Bucketed(tokens=256, longest=64)}))
    patient = Patient(config, prepared, CPU)
    lengths = prepared.split("train").lengths
    longest = max(int(side.max()) for side in lengths.values())
    for tokens in (256, 1_024):
        shapes = [rows.ids.shape for rows in patient.longest(tokens).features.values()]
        assert {
            len(ids) for ids in (rows.ids for rows in patient.longest(tokens).features.values())
        } == {tokens // longest}
        assert max(width for _, width in shapes) == longest


def test_much_padding_is_a_warning(tried) -> None:
    found, numbers = tried({"batch.row": 200, "batch.tokens": 200, "batch.window": 1})
    assert numbers["padding"] < 0.25
    found, numbers = tried({"batch": Bucketed(tokens=256, longest=64, multiple=64)})
    assert found["padding"].level == "warning" and numbers["padding"] > 0.5
    assert "batch=packed" in found["padding"].advice
    found, _ = tried({"batch.row": 200, "batch.longest": 200, "batch.tokens": 8_000})
    assert found["padding"].level == "warning" and "few batches (1)" in found["padding"].advice


def test_a_compiled_preset_is_tried_without_and_says_so(tried) -> None:
    found, _ = tried({"training.compile": "true"})
    assert "torch.compile, left out here" in found["speed"].title


def test_a_preset_that_cannot_train_on_the_problem_is_a_problem(tried) -> None:
    found, numbers = tried({"batch.longest": 2})
    assert found["run"].level == "problem" and "Raise batch.longest" in found["run"].title
    assert "parameters" in numbers and "seconds_per_step" not in numbers
    found, _ = tried(preset=encoder_tiny(), source=False)
    assert "reads a source, and this problem has none" in found["run"].title


def test_a_language_model_is_tried_without_decoding(tried) -> None:
    small = {"model.dim": 32, "model.ff": 64, "model.heads": 2, "model.layers": 1}
    found, _ = tried({**small, "batch.tokens": 256}, preset=lm_tiny(), source=False)
    assert "speed" in found and "decode" not in found
    assert {f.level for f in found.values()} <= {"ok", "note"}


def test_a_batch_that_memory_cannot_hold_is_a_problem_with_a_budget(tried, monkeypatch) -> None:
    take = Patient.take

    def small_only(self, parts):
        if any(rows.ids.numel() > 128 for rows in parts[0].features.values()):
            raise torch.OutOfMemoryError("a page of numbers")
        return take(self, parts)

    monkeypatch.setattr(Patient, "take", small_only)
    found, numbers = tried()
    budget = found["budget"]
    assert budget.level == "problem" and "batch.tokens=256 does not fit" in budget.title
    assert 128 <= budget.number < 192  # two rows of 64
    assert budget.advice.startswith(f"Set batch.tokens={budget.number}")
    assert numbers["budget"]["measured"] and "speed" not in found
    monkeypatch.setattr(Patient, "take", lambda self, parts: (_ for _ in ()).throw(MemoryError()))
    found, _ = tried()
    assert found["budget"].level == "problem" and "smaller model" in found["budget"].advice


def test_another_error_is_not_taken_for_a_lack_of_memory(tried, monkeypatch) -> None:
    def fail(self, parts):
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(Patient, "take", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        tried()


def test_on_a_gpu_larger_budgets_are_really_tried(tmp_path, small, lines, monkeypatch) -> None:
    problem = planted(lines)
    patient = Patient(run_config(problem, small), ready(problem, tmp_path), CPU)
    patient.device = SimpleNamespace(type="cuda")
    emptied = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(True))
    monkeypatch.setattr(trial.memory, "room", lambda device: 10_000)
    taken = []

    class Counted(trial.Peak):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.peak = taken[-1]

    def take(self, parts):
        taken.append(parts[0].targets.ids.numel())
        if taken[-1] > 8_000:
            raise torch.OutOfMemoryError
        return 0.1, True

    monkeypatch.setattr(trial, "Peak", Counted)
    monkeypatch.setattr(Patient, "take", take)
    numbers = {}
    found = {f.name: f for f in trial._longest(patient, numbers)}
    assert taken[:3] == [256, 256, 512] and emptied
    assert found["budget"].level == "ok" and numbers["budget"]["measured"]
    assert 4_000 < numbers["budget"]["tokens"] <= 9_000


def test_a_loss_that_is_no_number_is_a_problem(tried, monkeypatch) -> None:
    monkeypatch.setattr(Patient, "take", lambda self, parts: (0.1, False))
    found, _ = tried()
    assert found["longest_batch"].level == "problem"
    assert "not a number" in found["longest_batch"].title


def test_a_disk_without_room_is_a_problem(tried, monkeypatch) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(trial.shutil, "disk_usage", lambda path: usage(1_000))
    found, _ = tried()
    assert found["disk"].level == "problem" and "training.keep_last" in found["disk"].advice


def test_examples_that_do_not_decode_are_a_problem(tried, monkeypatch) -> None:
    def fail(self, *_):
        raise HeedfulError("no")

    monkeypatch.setattr("heedful.decoding.translator.Translator._search", fail)
    found, numbers = tried()
    assert found["decode"].level == "problem" and numbers["decode"]["failed"] == 4
    assert "4 of 4 valid examples do not decode" in found["decode"].title


def test_long_runs_are_noted(tried) -> None:
    found, _ = tried({"training.steps": 10**10})
    assert found["time"].level == "note" and " days" in found["time"].title


def test_times_are_said_as_a_person_would() -> None:
    assert [duration(s) for s in (0.2, 42, 3_000, 40_000, 400_000)] == [
        "0 s",
        "42 s",
        "50 minutes",
        "11 hours",
        "4.6 days",
    ]

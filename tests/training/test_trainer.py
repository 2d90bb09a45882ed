"""The trainer on a real small run: what it writes, how it resumes, when it stops."""

import json
import os
import signal

import pytest
import torch

from heedful.errors import HeedfulError, UsageError
from heedful.runs.averaging import average_checkpoints
from heedful.runs.checkpoints import EMA, MODEL, Checkpoints
from heedful.runs.folder import RunFolder
from heedful.runs.loading import load_model
from heedful.training import trainer
from heedful.training.signals import Interrupted
from heedful.training.watchers import Watchers


class StopAt(Watchers):
    """Sends this process a signal after a step."""

    def __init__(self, step, number=signal.SIGTERM, times=1):
        super().__init__()
        self.step, self.number, self.times = step, number, times

    def advance(self, step):
        if step == self.step:
            for _ in range(self.times):
                os.kill(os.getpid(), self.number)


def test_a_run_folder_has_everything(whole):
    folder = whole.root / "run"
    names = {p.name for p in folder.iterdir()}
    assert {"config.json", "vocab", "log.jsonl", "tensorboard", "checkpoints", "data.json"} <= names
    assert any(p.name.startswith("events.out") for p in (folder / "tensorboard").iterdir())
    steps = [c.step for c in Checkpoints(folder / "checkpoints").steps()]
    assert {4, 8, 12} <= set(steps)
    newest = Checkpoints(folder / "checkpoints").at(12)
    assert newest.has(MODEL) and newest.has("optim") and newest.has(EMA)
    state = newest.state()
    assert state["step"] == 12 and state["tokens"] > 0 and state["seconds"] > 0
    assert set(state["cursor"]) == {"epoch", "part"}


def test_the_log_says_what_it_should(whole):
    lines = [
        json.loads(line) for line in (whole.root / "run" / "log.jsonl").read_text().splitlines()
    ]
    train = [line for line in lines if line["kind"] == "train"]
    assert [line["step"] for line in train] == [5, 10, 12]
    fields = {"loss", "nll", "rate", "grad_norm", "tokens_per_second", "padding", "seconds"}
    assert all(field in line for field in fields for line in train)
    assert all(0 <= line["padding"] < 1 and line["tokens_per_second"] > 0 for line in train)
    evaluations = [line for line in lines if line["kind"] == "evaluate"]
    assert [line["step"] for line in evaluations] == [6, 12]
    assert all(line["weights"] == "ema" for line in evaluations)
    names = {"loss", "perplexity", "exact_match", "token_accuracy"}
    assert names <= set(evaluations[0]["metrics"])


def test_the_best_is_pointed_at_and_was_saved(whole):
    best = json.loads((whole.root / "run" / "checkpoints" / "best.json").read_text())
    assert best["metric"] == "exact_match"
    assert Checkpoints(whole.root / "run" / "checkpoints").at(best["step"]).path.is_dir()
    assert whole.result.best.step == best["step"]


@pytest.mark.parametrize(
    "step", [3, 6, 11]
)  # before, at and after an evaluation; never a checkpoint
def test_a_stopped_run_saves_and_goes_on_bit_for_bit(run, same_as_whole, step):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted, match=f"stopped at step {step}; saved as .*step-{step}"):
        run("run", watch=lambda steps, at: StopAt(step))
    assert signal.getsignal(signal.SIGTERM) is before
    run("run", resume=True)
    same_as_whole(run, "run")


def test_a_second_signal_leaves_at_once(run):
    with pytest.raises(SystemExit) as left:
        run("run", watch=lambda steps, at: StopAt(2, signal.SIGINT, times=2))
    assert left.value.code == 130
    assert Checkpoints(run.root / "run" / "checkpoints").steps() == []


def test_resuming_past_a_torn_checkpoint_uses_the_one_before(run, same_as_whole):
    run("run", {"training.steps": 8})
    torn = run.root / "run" / "checkpoints" / "step-8" / "model.safetensors"
    torn.write_bytes(torn.read_bytes()[:-8])
    left = run.root / "run" / "checkpoints" / ".writing-step-9-0"
    left.mkdir()
    run.notes.clear()
    # A run of 8 steps also logged and evaluated at its end; from step 6 on it is as if it had not.
    run("run", resume=True)
    assert any("step-8" in note and "model.safetensors" in note for note in run.notes)
    assert any("going on from step-6" in note for note in run.notes)
    assert any("training.steps: 8 → 12" in note for note in run.notes)
    assert not left.exists()
    same_as_whole(run, "run")


def test_resuming_a_finished_run_does_nothing(run):
    run("run", {"training.steps": 2})
    result = run("run", {"training.steps": 2}, resume=True)
    assert result.step == 2 and len(run.log("run")) == 2


def test_another_config_is_shown_and_refused_unless_allowed(run):
    run("run", {"training.steps": 2})
    changed = {"training.steps": 4, "model.dropout": 0.3, "training.seed": 9}
    with pytest.raises(UsageError) as refused:
        run("run", changed, resume=True)
    assert "model.dropout: 0.1 → 0.3" in str(refused.value)
    assert "training.seed: 1 → 9" in str(refused.value)
    assert "training.steps" not in str(refused.value)
    assert run("run", changed, resume=True, allow_changes=True).step == 4
    assert RunFolder.open(run.root / "run").config().preset.model.dropout == 0.3


def test_a_folder_that_holds_a_run_is_not_trained_into(run):
    run("run", {"training.steps": 1})
    with pytest.raises(UsageError, match="already holds a run. Go on with it: --resume"):
        run("run")


def test_a_start_that_failed_is_no_run_and_may_be_made_again(run):
    with pytest.raises(HeedfulError, match=r"longer than \d+ tokens"):
        run("run", {"training.steps": 2, "batch.longest": 1})
    assert (run.root / "run" / "config.json").exists() and not RunFolder(run.root / "run").begun
    assert run("run", {"training.steps": 2}).step == 2
    assert RunFolder.open(run.root / "run").config().preset.batch.limit > 1


def test_there_must_be_something_to_resume(run):
    with pytest.raises(UsageError, match="nothing to resume"):
        run("run", resume=True)


def test_two_processes_cannot_train_in_one_folder(run):
    run("run", {"training.steps": 1})
    held = RunFolder.open(run.root / "run").locked()
    said = f"process {os.getpid()} is training there"
    with held, pytest.raises(HeedfulError, match=said):
        run("run", resume=True)


def test_other_data_is_refused_on_resuming(run):
    run("run", {"training.steps": 1})
    path = run.root / "run" / "data.json"
    path.write_text(path.read_text().replace('"fingerprint": "', '"fingerprint": "0'))
    with pytest.raises(UsageError, match="was trained on other data"):
        run("run", {"training.steps": 1}, resume=True)


def test_another_vocabulary_is_always_refused(run):
    run("run", {"training.steps": 1})
    path = run.root / "run" / "vocab" / "shared.json"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(HeedfulError, match="a model cannot change its vocabulary"):
        run("run", {"training.steps": 1}, resume=True, allow_changes=True)


def test_training_stops_when_nothing_better_comes(run):
    changes = {"training.patience": 2, "training.evaluate_every": 1, "schedule.peak": 0.0,
               "training.steps": 50, "training.ema": 0.0}  # fmt: skip
    result = run("run", changes)
    assert result.stopped_early
    assert result.step == 3  # the first is the best; two more are not better
    assert "stopped early" in run.notes[-1]
    assert (run.root / "run" / "checkpoints" / "step-3").is_dir()
    assert run("run", changes, resume=True).step == 3


def test_only_as_many_checkpoints_stay_as_asked(run):
    changes = {"training.checkpoint_every": 1, "training.keep_last": 2, "training.keep_best": 0,
               "training.steps": 5, "training.evaluate_every": 0}  # fmt: skip
    run("run", changes)
    checkpoints = Checkpoints(run.root / "run" / "checkpoints")
    assert [c.step for c in checkpoints.steps()] == [4, 5]
    one = checkpoints.at(5).size() / 1e9
    run("run", {**changes, "training.steps": 8, "training.disk_cap_gb": one * 1.5}, resume=True)
    assert [c.step for c in checkpoints.steps()] == [8]


def test_the_last_checkpoints_are_averaged_at_the_end(run):
    run("run", {"training.average": 2, "training.ema": 0.0, "training.keep_best": 0})
    folder = run.root / "run"
    average = Checkpoints(folder / "checkpoints").find("average", print)
    assert average.state() == {"average": [8, 12], "of": "model"}
    parts = [run.tensors("run", step) for step in (8, 12)]
    for name, tensor in average.tensors(MODEL).items():
        torch.testing.assert_close(
            tensor, (parts[0][f"model:{name}"] + parts[1][f"model:{name}"]) / 2
        )
    loaded = load_model(folder, "average")
    assert loaded.checkpoint["name"] == "average" and loaded.checkpoint["step"] is None


def test_the_average_of_a_run_with_a_moving_average_is_of_that(whole):
    made = average_checkpoints(whole.root / "run", steps=[12])
    tensors = whole.tensors("run", 12)
    assert made.state() == {"average": [12], "of": "ema"}
    for name, tensor in made.tensors(MODEL).items():
        assert torch.equal(tensor, tensors[f"ema:{name}"])
    with pytest.raises(HeedfulError, match="fewer than the last 50"):
        average_checkpoints(whole.root / "run", last=50)
    with pytest.raises(HeedfulError, match="has no step-7. It has: step-4"):
        average_checkpoints(whole.root / "run", steps=[7])
    with pytest.raises(UsageError, match="either"):
        average_checkpoints(whole.root / "run")


def test_a_loaded_model_has_the_weights_that_were_evaluated(whole):
    model, tokenizers, config, info = load_model(whole.root / "run", "step-12")
    assert not model.training
    assert (
        set(tokenizers) == {"inputs", "targets"} and tokenizers["inputs"] is tokenizers["targets"]
    )
    assert config == whole.config()
    assert info["step"] == 12 and info["weights"] == "ema" and len(info["sha256"]) == 64
    tensors = whole.tensors("run", 12)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, tensors[f"ema:{name}"])


def test_a_small_model_learns_to_say_a_sequence_again(run):
    changes = {"training.steps": 250, "training.parts": 1, "batch.tokens": 256, "training.ema": 0.0,
               "model.dim": 32, "model.dropout": 0.0, "schedule.peak": 0.01, "loss.amount": 0.0,
               "training.evaluate_every": 0, "training.checkpoint_every": 0,
               "training.evaluate_examples": 0}  # fmt: skip
    result = run("run", changes)
    log = [line for line in run.log("run") if line["kind"] == "train"]
    assert log[-1]["nll"] < log[0]["nll"] / 3
    assert result.metrics["token_accuracy"]["value"] > 80


def test_training_on_a_cpu_keeps_what_is_freed(run, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(trainer, "keep_freed", lambda: asked.append(True))
    run("a", {"training.steps": 1})
    assert asked == [True]

"""What must hold when the machine is unkind: kill -9, a full disk, a loss that is no number."""

import signal
import time

import pytest
import torch

from heedful.errors import HeedfulError
from heedful.models.base import Model
from heedful.nn.losses import Loss
from heedful.runs import durable
from heedful.runs.checkpoints import Checkpoints
from heedful.training.guard import NonFinite


def test_killed_in_the_middle_of_a_checkpoint_a_run_goes_on_bit_for_bit(run, whole, same_as_whole):
    process = run.start("run")
    checkpoints = run.root / "run" / "checkpoints"
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if (checkpoints / "step-4").is_dir() and any(
            checkpoints.glob(f"{durable.TEMPORARY}step-*")
        ):
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert any(checkpoints.glob(f"{durable.TEMPORARY}step-*"))
    run("run", resume=True)
    assert not any(checkpoints.glob(".*"))
    same_as_whole(run, "run")


def test_a_disk_that_fills_up_stops_the_run_and_the_last_good_checkpoint_stays(run):
    # Other files of a checkpoint are small; the optimiser's is the largest, so only it is refused.
    run("probe", {"training.steps": 1})
    sizes = {p.name: p.stat().st_size for p in (run.root / "probe/checkpoints/step-1").iterdir()}
    limit = sizes["optim.safetensors"] - 8
    run("run", {"training.steps": 4})
    process = run.start("run", resume=True, limit=limit)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("HeedfulError could not write") and "step-" in last
    assert "File too large" in last and "step-4, stays" in last
    assert [c.step for c in Checkpoints(run.root / "run/checkpoints").steps()] == [4]
    assert not any((run.root / "run/checkpoints").glob(".*"))


def test_a_loss_that_is_no_number_stops_the_run_and_is_never_saved(run, monkeypatch):
    healthy = Model.loss
    calls = []

    def sick(self, batch):
        loss = healthy(self, batch)
        if self.training:
            calls.append(batch.examples)
            if len(calls) == 11:  # the first part of the sixth step
                return Loss(loss.sum * torch.nan, loss.weight, loss.nll)
        return loss

    monkeypatch.setattr(Model, "loss", sick)
    with pytest.raises(NonFinite, match="step 6: the loss is nan") as stopped:
        run("run")
    assert stopped.value.examples == sorted(calls[10])
    assert "The last good checkpoint" in str(stopped.value) and "step-4" in str(stopped.value)
    assert isinstance(stopped.value, HeedfulError)
    assert [c.step for c in Checkpoints(run.root / "run/checkpoints").steps()] == [4]
    assert run.log("run")[-1] == {"kind": "non_finite", "step": 6, "examples": sorted(calls[10])}

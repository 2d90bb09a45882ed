"""torchrun with two processes: the same losses as one process with the same whole batch."""

import subprocess
import sys

import pytest
import torch

from heedful.runs.checkpoints import Checkpoints

LAUNCH = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_two_processes_train_as_one_does(run, whole):
    from_launch = run.command("run", launcher=LAUNCH)
    done = subprocess.run(
        from_launch, capture_output=True, text=True, env=run.environment(), timeout=120
    )
    assert done.returncode == 0, done.stderr
    ours, theirs = run.log("run"), whole.log("run")
    assert [(r["kind"], r["step"]) for r in ours] == [(r["kind"], r["step"]) for r in theirs]
    for a, b in zip(ours, theirs, strict=True):
        if a["kind"] == "train":
            assert a["loss"] == pytest.approx(b["loss"], abs=1e-5)
            assert a["nll"] == pytest.approx(b["nll"], abs=1e-5)
            assert a["tokens"] == b["tokens"] and a["padding"] == b["padding"]
    mine, other = run.tensors("run", 12), whole.tensors("run", 12)
    assert mine.keys() == other.keys()
    for name, tensor in other.items():
        torch.testing.assert_close(mine[name], tensor, rtol=1e-3, atol=1e-4)
    assert [c.step for c in Checkpoints(run.root / "run/checkpoints").steps()] == [
        c.step for c in Checkpoints(whole.root / "run/checkpoints").steps()
    ]

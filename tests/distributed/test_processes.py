"""Several processes: the same losses as one, and nothing that hangs."""

import pytest
import torch

from heedful.distributed.processes import Processes, check_parts, pick_device, processes
from heedful.errors import HeedfulError, UsageError


def test_one_process_is_all_of_them():
    with processes("cpu") as alone:
        assert (alone.rank, alone.world, alone.first) == (0, 1, True)
        tensor = torch.ones(2)
        alone.sum(tensor)
        alone.check_same(torch.nn.Linear(2, 2))
        assert tensor.tolist() == [1.0, 1.0]
        assert alone.any(True) and not alone.any(False)
        assert alone.gather({"a": 1}) == [{"a": 1}]
        assert alone.first_does(lambda: 3) == 3


def test_parts_that_cannot_be_shared_are_refused_with_the_numbers():
    check_parts(4, 2)
    with pytest.raises(UsageError, match=r"training.parts is 3, which 2 .* Set training.parts=4"):
        check_parts(3, 2)


@pytest.mark.parametrize(
    ("device", "said"),
    [("gpu", "no device is named 'gpu'"), ("cuda:99", "cuda|GPU")],
)
def test_a_device_that_is_not_there_is_said(device, said):
    with pytest.raises(UsageError, match=said):
        pick_device(device)


SCRIPT = """
import sys, torch
torch.set_num_threads(1)
from heedful.distributed.processes import processes
from heedful.errors import HeedfulError
with processes("cpu") as ranks:
    tensor = torch.full((2,), float(ranks.rank + 1))
    ranks.sum(tensor)
    assert tensor.tolist() == [3.0, 3.0]
    assert ranks.any(ranks.rank == 1) and not ranks.any(False)
    assert ranks.gather({"rank": ranks.rank, "word": "é" * (ranks.rank + 1)}) == [
        {"rank": 0, "word": "é"}, {"rank": 1, "word": "éé"}]
    assert ranks.first_does(lambda: {"from": ranks.rank}) == {"from": 0}

    def fail():
        raise HeedfulError("the disk is full")

    try:
        ranks.first_does(fail)
    except HeedfulError as error:
        assert str(error) == "the disk is full"
    else:
        raise SystemExit(3)
    torch.manual_seed(ranks.rank)
    model = torch.nn.Linear(3, 3)
    try:
        ranks.check_same(model)
    except HeedfulError as error:
        assert "drifted apart" in str(error)
    else:
        raise SystemExit(4)
    ranks.same(model)
    ranks.check_same(model)
"""


def test_two_processes_tell_each_other_what_they_must(torchrun, tmp_path):
    script = tmp_path / "talk.py"
    script.write_text(SCRIPT)
    done = torchrun(script)
    assert done.returncode == 0, done.stderr


def test_the_error_of_processes_is_one_for_a_person():
    assert issubclass(UsageError, HeedfulError)
    assert Processes(torch.device("cpu"), rank=1, world=2).first is False

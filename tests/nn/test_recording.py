"""Nothing is thrown away while a GPU is recorded."""

import contextlib
import gc
from unittest.mock import Mock

import pytest
import torch

from heedful.nn.recording import recording


@pytest.mark.parametrize("looks", [True, False])
def test_no_garbage_is_looked_for_meanwhile_and_later_as_before(looks: bool, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, pool: contextlib.nullcontext())
    graph = Mock(spec=torch.cuda.CUDAGraph)
    (gc.enable if looks else gc.disable)()
    try:
        with contextlib.suppress(RuntimeError), recording(graph):
            assert not gc.isenabled()
            raise RuntimeError("what is done cannot be recorded")
        assert gc.isenabled() == looks
    finally:
        gc.enable()


@pytest.mark.gpu
def test_an_old_recording_that_nobody_holds_spoils_no_new_one() -> None:
    x = torch.zeros(8, device="cuda")

    def forgotten() -> None:
        graph = torch.cuda.CUDAGraph()
        with recording(graph):
            x.add_(1)
        circle: list[object] = [graph]
        circle.append(circle)

    forgotten()
    graph, often = torch.cuda.CUDAGraph(), gc.get_threshold()
    gc.set_threshold(1)
    try:
        with recording(graph):
            kept = [[number] for number in range(10_000)]  # enough that garbage is looked for
            x.add_(2)
    finally:
        gc.set_threshold(*often)
    graph.replay()
    assert len(kept) == 10_000 and x.tolist() == [2] * 8

"""What a machine lacks is said in a line, and done without."""

import importlib

import pytest
import torch

from heedful.config import vary
from heedful.nn.kernels.choice import Auto
from heedful.registry import presets
from heedful.training.abilities import lacks
from heedful.training.low import is_low

GPU = torch.device("cuda")
blocks = importlib.import_module("heedful.nn.kernels.blocks")  # the function has the file's name


@pytest.fixture
def old(monkeypatch):
    """A GPU of 2016, as PyTorch would describe it."""
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (6, 1))
    monkeypatch.setattr(blocks.importlib.util, "find_spec", lambda name: object())
    blocks.missing.cache_clear()
    yield
    blocks.missing.cache_clear()


def preset(row: int):
    return vary(presets.get("transformer_multi30k")(), {"batch.row": row})


def test_an_old_gpu_is_told_of_in_two_lines(old) -> None:
    bf16, triton = lacks(preset(1024), GPU)
    assert "no bf16" in bf16
    assert "too old for Triton (compute capability 6.1): rows of 1024 tokens" in triton
    assert len(lacks(preset(128), GPU)) == 1  # short rows never wanted it
    asked = vary(preset(128), {"training.precision": "bf16"})
    assert not is_low(preset(128), GPU) and is_low(asked, GPU)


def test_without_triton_it_says_so(old, monkeypatch) -> None:
    monkeypatch.setattr(blocks.importlib.util, "find_spec", lambda name: None)
    blocks.missing.cache_clear()
    assert lacks(preset(512), GPU)[1].startswith("Triton is not installed: rows of 512")


def test_a_cpu_lacks_nothing_it_was_thought_to_have() -> None:
    assert lacks(preset(1024), torch.device("cpu")) == []


@pytest.mark.parametrize(("reason", "wanted"), [("", "blocks"), ("no Triton", "fused")])
def test_long_rows_go_the_plain_way_where_blocks_cannot(reason, wanted, monkeypatch) -> None:
    monkeypatch.setattr("heedful.nn.kernels.choice.missing", lambda: reason)
    assert Auto().choose("cuda", Auto.long, 0.0) == wanted
    assert Auto().choose("cuda", Auto.long, 0.1) == "fused"
    assert Auto().choose("cuda", 1, 0.0) == "fused"
    assert Auto().choose("cpu", 1, 0.0) == "dense"
    assert Auto().choose("cpu", Auto.long, 0.0) == "fused"

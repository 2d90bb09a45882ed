"""The kernel that follows rows from place to place: by Triton's interpreter, or on a GPU where
there is one; and it compiles for one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

CHECKS = """
import sys
import torch
from heedful.nn.kernels.step import retrace

device = sys.argv[1]

def check(sources, together, length, place):
    torch.manual_seed(place)
    rows = sources * together
    own = torch.arange(rows, device=device, dtype=torch.int32)[:, None]
    first = torch.arange(sources, device=device).repeat_interleave(together) * together
    order = first + torch.randint(0, together, (rows,), device=device)
    trace = own.repeat(1, length)
    trace[:, :place] = torch.randint(0, rows, (rows, place), device=device).int()
    wanted = trace.clone()
    wanted[:, : place + 1] = trace[order, : place + 1]
    retrace(trace, order, torch.tensor([place], device=device), sources)
    assert torch.equal(trace, wanted), (sources, together, length, place)

for place in (0, 1, 31, 32, 39):
    check(3, 4, 40, place)
check(2, 3, 33, 32)
check(2, 1, 8, 5)
"""


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param(
            "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
        ),
    ],
)
def test_rows_are_followed_to_where_they_were_written(device: str) -> None:
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1" if device == "cpu" else "0"}
    command = [sys.executable, "-c", CHECKS, device]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_kernel_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triton = pytest.importorskip("triton", reason="Triton is for Linux")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from heedful.nn.kernels.step_trace import retrace

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    constants = {"K": 3, "KS": 4, "BLOCK": 32}
    kinds = {"trace_ptr": "*i32", "order_ptr": "*i64", "place_ptr": "*i64", "length": "i32"}
    made = triton.compile(
        ASTSource(
            fn=retrace,
            signature=kinds | dict.fromkeys(constants, "constexpr"),
            constexprs=constants,
        ),
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": 1},
    )
    assert "st.global" in made.asm["ptx"]

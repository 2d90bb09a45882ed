"""What comes before and after the layers of a step: a kernel looks up vectors, another follows rows
from place to place. By Triton's interpreter, or on a GPU where there is one; and both compile."""

from pathlib import Path

import pytest

CHECKS = """
import sys
import torch
from heedful.modalities.symbols import Embedding
from heedful.nn.kernels.step import embed, retrace
from heedful.text.specials import PAD

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

for width, dtype in ((32, torch.float32), (24, torch.float32), (48, torch.bfloat16)):
    words = Embedding(9, width).to(device, dtype)
    ids = torch.tensor([[4], [PAD], [8], [1], [4]], device=device)
    with torch.no_grad():
        found, wanted = embed(ids, words.weight, width**0.5, PAD), words(ids)
    rough = device == "cpu" and dtype == torch.bfloat16  # where the interpreter cuts off
    torch.testing.assert_close(found, wanted, atol=0, rtol=2**-7 if rough else 0)
"""


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param("cuda", marks=pytest.mark.gpu),
    ],
)
def test_kernels_give_what_plain_steps_give(device: str, by_kernels) -> None:
    by_kernels(CHECKS, device)


@pytest.mark.parametrize("name", ["retrace", "embed"])
def test_the_kernels_compile(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triton = pytest.importorskip("triton", reason="Triton is for Linux")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from heedful.nn.kernels.step_embed import embed
    from heedful.nn.kernels.step_trace import retrace

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    places = {"trace_ptr": "*i32", "order_ptr": "*i64", "place_ptr": "*i64", "length": "i32"}
    vectors = {"ids_ptr": "*i64", "table_ptr": "*bf16", "out_ptr": "*bf16"}
    numbers = {"scale": "fp32", "nothing": "i32"}
    kernel, kinds, constants = {
        "retrace": (retrace, places, {"K": 3, "KS": 4, "BLOCK": 32}),
        "embed": (embed, vectors | numbers, {"WIDTH": 500, "COLUMNS": 512}),
    }[name]
    made = triton.compile(
        ASTSource(
            fn=kernel,
            signature=kinds | dict.fromkeys(constants, "constexpr"),
            constexprs=constants,
        ),
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": 1},
    )
    assert "st.global" in made.asm["ptx"]

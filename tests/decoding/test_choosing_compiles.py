"""The kernels of a turn are compiled for a GPU here, where there is none."""

import inspect
from pathlib import Path

import pytest

triton = pytest.importorskip("triton", reason="Triton is for Linux")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

from heedful.decoding.choosing_kernels import choose, survey  # noqa: E402

BEAM = {"K": 4, "KS": 4, "C": 8, "CS": 8, "N": 1, "NS": 1}
GREEDY = {"K": 1, "KS": 1, "C": 1, "CS": 1, "N": 1, "NS": 1}
SIZES = {"GROUP": 64, "GROUPS": 512, "CHUNKS": 8, "BLOCK": 64}
WHOLE = ["step", "limits", "tokens", "ids", "kept_ids", "kept_length", "order", "failed"]
BYTES = ["kept_ended", "done"]


@pytest.mark.parametrize(
    ("kernel", "kind", "constants"),
    [
        (survey, "bf16", {"GROUP": 64, "MANY": 64}),
        (choose, "bf16", BEAM | SIZES),
        (choose, "fp32", GREEDY | SIZES),
    ],
    ids=["survey", "beam", "greedy"],
)
def test_kernels_of_a_turn_compile(
    kernel, kind, constants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    types = {name: _kind(name, kind, constants) for name in inspect.signature(kernel.fn).parameters}
    made = triton.compile(
        ASTSource(fn=kernel, signature=types, constexprs=constants),
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": 4},
    )
    assert "st.global" in made.asm["ptx"]
    assert made.metadata.shared <= 227 * 1024


def _kind(name: str, kind: str, constants: dict[str, int]) -> str:
    """What an argument of a kernel is, as Triton writes it."""
    if name in constants:
        return "constexpr"
    if not name.endswith("_ptr"):
        return "i32"
    of = name.removesuffix("_ptr")
    kinds = {"logits": kind} | dict.fromkeys(WHOLE, "i64") | dict.fromkeys(BYTES, "u8")
    return f"*{kinds.get(of, 'fp32')}"

"""Kernels that only a GPU runs are compiled for one here, where there is none."""

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

triton = pytest.importorskip("triton", reason="Triton is for Linux")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

from heedful.nn.kernels import (  # noqa: E402
    gates,
    gates_steps,
    norm_of_sum,
    norm_slopes,
    rectified,
    softmax_slopes,
    spans_backward,
    spans_forward,
    spans_op,
)
from heedful.nn.kernels.relative_forward import forward  # noqa: E402
from heedful.nn.kernels.relative_keys import keys  # noqa: E402
from heedful.nn.kernels.relative_op import TUNING  # noqa: E402
from heedful.nn.kernels.relative_queries import queries  # noqa: E402
from heedful.nn.kernels.relative_turns import SIDE, WARPS  # noqa: E402
from heedful.nn.kernels.step_norm import add_norm  # noqa: E402
from heedful.nn.kernels.step_read import read  # noqa: E402

HOPPER = GPUTarget("cuda", 90, 32)
SHARED = 227 * 1024  # bytes that a block of threads may have of it
WHOLE = {
    "seen_ptr": "*i32",
    "seen_by_ptr": "*i32",
}  # where the others point at numbers with a point
FLOAT = dict.fromkeys(("level_ptr", "delta_ptr", "dtable_ptr", "ends_ptr"), "*fp32")


@pytest.mark.parametrize(
    ("kernel", "tiles", "kind"),
    [
        (forward, TUNING.forward, "bf16"),
        (queries, TUNING.queries, "bf16"),
        (keys, TUNING.keys, "fp32"),
    ],
    ids=["forward", "queries", "keys"],
)
def test_relative_kernels_compile(kernel, tiles, kind, tmp_path: Path, monkeypatch) -> None:
    block = tiles.block if kind == "bf16" else tiles.block // 2
    sizes = {"BLOCK": block, "CLIPPED": True, "CAUSAL": False, "TURNS": False}
    _compiled(kernel, tiles, kind, sizes, tmp_path, monkeypatch)


AS_PRODUCTS_LEAVE_IT = re.compile(
    r"nvidia_mma<{versionMajor = 3, .*warpsPerCTA = \[4, 1\], instrShape = \[16, 64, 16\]"
)


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize(
    ("kernel", "tiles", "skews"),
    [(forward, TUNING.forward, 1), (queries, TUNING.queries, 3), (keys, TUNING.keys, 1)],
    ids=["forward", "queries", "keys"],
)
def test_what_is_skewed_within_registers_lies_there_as_products_leave_it(
    kernel, tiles, skews, width, tmp_path: Path, monkeypatch
) -> None:
    assert (tiles.block, tiles.warps) == (SIDE, WARPS)
    shapes = {"BLOCK": tiles.block, "WIDTH": width, "COLUMNS": width}
    plain = width == SIDE
    sizes = {**shapes, "CLIPPED": not plain, "CAUSAL": plain, "TURNS": True}
    text = _compiled(kernel, tiles, "bf16", sizes, tmp_path, monkeypatch).asm["ttgir"]
    named = dict(re.findall(r"^(#\w+) = #ttg\.(.*)$", text, re.M))
    lines = [line for line in text.splitlines() if "elementwise_inline_asm" in line]
    assert len(lines) == skews
    for line in lines:
        layouts = re.findall(r"tensor<64x64x\w+, (#\w+)>", line)
        assert len(layouts) == 3
        for layout in layouts:
            assert AS_PRODUCTS_LEAVE_IT.match(named[layout]), named[layout]


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "both"])
@pytest.mark.parametrize(
    ("kernel", "tiles"),
    [(forward, TUNING.forward), (queries, TUNING.queries), (keys, TUNING.keys)],
    ids=["forward", "queries", "keys"],
)
def test_nothing_is_loaded_over_what_a_product_still_reads(
    kernel, tiles, causal, tmp_path: Path, monkeypatch
) -> None:
    """A product goes on while the next tile is loaded. Triton gives what only products read a
    second place for that; what is also read into registers has one, and is written too soon."""
    sizes = {"BLOCK": tiles.block, "CLIPPED": True, "CAUSAL": causal, "TURNS": True}
    text = _compiled(kernel, tiles, "bf16", sizes, tmp_path, monkeypatch).asm["ttgir"]
    places = re.findall(r"local_alloc : \(\) -> !ttg\.memdesc<(\d+)x(\d+)x(\d+)xbf16", text)
    assert places and all(int(deep) > 1 for deep, *_ in places)


@pytest.mark.parametrize(
    ("kernel", "tiles", "kind"),
    [
        (spans_forward.forward, spans_op.TUNING.forward, "bf16"),
        (spans_backward.queries_slopes, spans_op.TUNING.queries, "fp32"),
        (spans_backward.keys_slopes, spans_op.TUNING.keys, "bf16"),
    ],
    ids=["forward", "queries", "keys"],
)
def test_span_kernels_compile(kernel, tiles, kind, tmp_path: Path, monkeypatch) -> None:
    half = 1 if kind == "bf16" else 2
    sides = {"QUERIES": max(16, tiles.queries // half), "KEYS": max(16, tiles.keys // half)}
    made = _compiled(kernel, tiles, kind, {**sides, "CAUSAL": True}, tmp_path, monkeypatch)
    assert "wgmma" not in made.asm["ptx"]  # see Tuning


def _compiled(kernel, tiles, kind: str, sizes: dict[str, object], folder: Path, patch):
    """A kernel of attention with products, as a GPU would have it."""
    patch.setenv("TRITON_CACHE_DIR", str(folder))
    precision = "tf32" if kind == "bf16" else "tf32x3"
    names = inspect.signature(kernel.fn).parameters
    scales = {name: 0.125 for name in names if name in ("SCALE", "BY_SCALE")}
    constants = {"WIDTH": 64, "COLUMNS": 64, "PRECISION": precision, **scales, **sizes}
    types = {name: _kind(name, kind, constants) for name in names}
    types |= {name: "fp64" for name in names if types[name] == "fp32"}  # in a compiled graph
    sixteens = {  # multiples of 16, as a tensor's are: else nothing is loaded ahead
        (i,): [["tt.divisibility", 16]]
        for i, name in enumerate(names)
        if name.endswith(("_ptr", "_row", "_head", "_place"))
    }
    made = triton.compile(
        ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=sixteens),
        target=HOPPER,
        options={"num_warps": tiles.warps, "num_stages": tiles.stages},
    )
    assert "wgmma" in made.asm["ptx"] or "mma.sync" in made.asm["ptx"]
    assert made.metadata.shared <= SHARED
    return made


STEP = {
    read: {"LENT": 1, "WIDTH": 64, "COLUMNS": 64, "BLOCK": 32, "TRACED": True},
    add_norm: {"WIDTH": 512, "COLUMNS": 512},
    **{kernel: {"BLOCK": gates.BLOCK} for kernel in (gates_steps.reset, gates_steps.slopes_reset)},
    **{
        kernel: {"BLOCK": gates.BLOCK, "RENEW": True}
        for kernel in (
            gates_steps.after,
            gates_steps.update,
            gates_steps.slopes_after,
            gates_steps.slopes_update,
        )
    },
}
STEP_WHOLE = {"segments_ptr": "*i64", "own_ptr": "*i64", "trace_ptr": "*i32", "place_ptr": "*i64"}


@pytest.mark.parametrize("kind", ["bf16", "fp32"])
@pytest.mark.parametrize(
    ("kernel", "more"),
    [
        (read, {}),
        (read, {"TRACED": False, "LENT": 2}),
        *((kernel, {}) for kernel in STEP if kernel is not read),
    ],
    ids=["traced", "source", *(kernel.fn.__name__ for kernel in STEP if kernel is not read)],
)
def test_step_kernels_compile(
    kernel, more, kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    constants = {**STEP[kernel], **more}
    types = {
        name: STEP_WHOLE.get(name) or _kind(name, kind, constants)
        for name in inspect.signature(kernel.fn).parameters
    }
    made = triton.compile(
        ASTSource(fn=kernel, signature=types, constexprs=constants),
        target=HOPPER,
        options={"num_warps": 4},
    )
    assert ".global" in made.asm["ptx"]
    assert made.metadata.shared <= SHARED


def _kind(name: str, kind: str, constants: dict[str, object]) -> str:
    """What an argument of a kernel is, as Triton writes it."""
    if name in constants:
        return "constexpr"
    if name.endswith("_ptr"):
        return {**WHOLE, **FLOAT}.get(name, f"*{kind}")
    return "fp32" if name.endswith(("scale", "epsilon")) else "i32"


TRAINING = {
    norm_of_sum._norm_of_sum: {
        "DIM": 512, "EPSILON": 1e-6, "FORGOTTEN": 2**28, "TIMES": 1.125, "ROWS": 4, "COLUMNS": 512
    },
    norm_slopes._norm_slopes: {
        "DIM": 512, "FORGOTTEN": 2**28, "TIMES": 1.125, "ROWS": 1, "COLUMNS": 512, "ADDS": True
    },
    norm_slopes._added_up: {"DIM": 512, "SUMS": 256, "BESIDE": 8},
    rectified._rectified_slopes: {
        "DIM": 512, "INNER": 2_048, "SIDE": 128, "DEEP": 64, "GROUP": 8
    },
    softmax_slopes._softmax_slopes: {"LABELS": 32_000, "AMOUNT": -0.9, "BLOCK": 8_192},
}  # fmt: skip
TRAINING_KINDS = {
    "dy_tiles": "tensordesc<bf16[128, 64]>",
    "weight_tiles": "tensordesc<bf16[64, 128]>",
    "seed_ptr": "*i64",
    "true_ptr": "*i64",
    **dict.fromkeys(
        (
            "mean_ptr",
            "scale_ptr",
            "dweight_ptr",
            "dbias_ptr",
            "sum_ptr",
            "likely_ptr",
            "norm_ptr",
        ),
        "*fp32",
    ),
}


@pytest.mark.parametrize("kernel", TRAINING, ids=lambda kernel: kernel.fn.__name__)
def test_training_kernels_compile_and_compute_nothing_in_double_precision(
    kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is passed with a point is a double in a compiled graph, and so is what it meets. And no
    product reads what threads copy in the meantime: Triton 3.6 puts no fence between the two."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    constants = TRAINING[kernel]
    types = {
        name: TRAINING_KINDS.get(name) or _kind(name, "bf16", constants)
        for name in inspect.signature(kernel.fn).parameters
    }
    types |= {name: "fp64" for name in types if types[name] == "fp32"}
    made = triton.compile(
        ASTSource(fn=kernel, signature=types, constexprs=constants),
        target=HOPPER,
        options={"num_warps": 4},
    )
    assert ".f64" not in made.asm["ptx"]
    assert not ("wgmma" in made.asm["ptx"] and re.search(r"cp\.async\.c[ag]", made.asm["ptx"]))
    assert made.metadata.shared <= SHARED


def test_kernels_name_nothing_that_a_compiler_would_not_write_down() -> None:
    """`torch.compile` writes a kernel down anew, with the kernels and constants that it names. What
    it takes out of a module of ours (`tiles.product`) would be missing there."""
    found = 0
    for path in sorted(Path(softmax_slopes.__file__).parent.glob("*.py")):
        module = importlib.import_module(f"heedful.nn.kernels.{path.stem}")
        for name, kernel in vars(module).items():
            if not isinstance(kernel, triton.JITFunction):
                continue
            found += 1
            named = {n: kernel.fn.__globals__.get(n) for n in kernel.fn.__code__.co_names}
            ours = [
                n
                for n, what in named.items()
                if isinstance(what, ModuleType) and not what.__name__.startswith("triton")
            ]
            assert not ours, (path.stem, name, ours)
    assert found > 20

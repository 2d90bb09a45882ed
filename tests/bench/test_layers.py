"""`bench attention` and `bench complexity`: what is measured, and that sizes stand alone."""

from pathlib import Path

import pytest
import torch

from heedful.bench import attention, complexity
from heedful.bench import layers as room
from heedful.bench.attention import Shape, bench_attention
from heedful.bench.complexity import bench_complexity
from heedful.bench.defaults import lengths, shape, sizes
from heedful.bench.layers import Layer, Made, Size, layers, windows
from heedful.bench.plot import draw
from heedful.bench.table import Row
from heedful.bench.timing import Middle
from heedful.errors import HeedfulError, UsageError
from heedful.nn.kernels import KERNELS
from heedful.nn.layout import line
from heedful.nn.patterns import Causal, Near, Visible
from heedful.nn.sight import Sight

from .conftest import CPU


def sight(length: int, batch: int, *more: Near) -> Sight:
    at = line(length, batch=batch)
    pattern = Visible() & Causal()
    for one in more:
        pattern = pattern & one
    return Sight(pattern, at, at)


@pytest.mark.parametrize(("length", "reach"), [(12, 4), (12, 12), (12, 1), (4, 2)])
def test_attention_in_windows_is_dense_attention_to_what_is_near(length: int, reach: int) -> None:
    q, k, v = (torch.randn(2, 3, length, 5, dtype=torch.double) for _ in range(3))
    wanted = KERNELS["dense"](q, k, v, sight(length, 2, Near(reach)))
    torch.testing.assert_close(windows(q, k, v, reach), wanted)


def test_windows_need_a_length_that_they_divide() -> None:
    with pytest.raises(UsageError, match="multiple of the reach, got 10 and 4"):
        windows(*(torch.randn(1, 1, 10, 2) for _ in range(3)), 4)


def test_flash_is_causal_attention() -> None:
    q, k, v = (torch.randn(2, 3, 9, 8) for _ in range(3))
    wanted = KERNELS["dense"](q, k, v, sight(9, 2))
    torch.testing.assert_close(attention.flash(q, k, v, sight(9, 2)), wanted)


def measured(**changes: object) -> dict[str, Row]:
    usual = {
        "shape": Shape(batch=2, heads=1, length=32, width=8, dtype=torch.float32),
        "lengths": (16, 32),
        "lengths_batch": 1,
        "rivals": attention.RIVALS,
        "repeats": 2,
    }
    made = attention.Measuring(**{**usual, **changes})  # type: ignore[arg-type]
    return {row.name: row for row in bench_attention(made, CPU, lambda text: None).rows}


def test_every_kernel_has_a_row_and_what_it_cannot_do_is_said() -> None:
    rows = measured()
    peers = {f"{rival.title}, 2 × 32" for rival in attention.RIVALS}
    assert {f"heedful {name}, 2 × 32" for name in KERNELS} | peers <= set(rows)
    assert all(rows[peer].value for peer in peers)
    assert "does not train on a CPU" in rows["heedful blocks, 2 × 32"].note
    dense, fast = rows["heedful dense, 2 × 32"], rows["torch flash, 2 × 32"]
    assert dense.value and fast.value and dense.unit == "ms"
    assert dense.more["times_flash"] == pytest.approx(dense.value / fast.value)
    assert dense.more["memory_gb"] > fast.more["memory_gb"] >= 3 * 2 * 32 * 8 * 4 / 1e9


def test_memory_of_dense_attention_grows_by_the_square_and_of_flash_by_length() -> None:
    rows = measured(lengths=(256, 512, 1024))
    assert rows["torch flash: memory by length"].value == pytest.approx(1, abs=0.05)
    assert 1.8 < (rows["heedful dense: memory by length"].value or 0) <= 2
    assert "heedful blocks: memory by length" not in rows  # it cannot do it here at all


def test_a_kernel_without_peers_or_lengths() -> None:
    rows = measured(rivals=(), lengths=())
    assert set(rows) == {f"heedful {name}, 2 × 32" for name in KERNELS}
    assert "times_flash" not in rows["heedful dense, 2 × 32"].more
    with pytest.raises(UsageError, match="must be 1 or more"):
        Shape(batch=0, heads=1, length=2, width=3, dtype=torch.float32)


def test_packed_sentences_have_rows_of_their_own() -> None:
    shape = Shape(batch=2, heads=1, length=32, width=16, dtype=torch.float32)
    rows = measured(rivals=(), lengths=(), packed=2, shape=shape)
    dense = rows["heedful dense, 2 × 1,024 packed"]
    assert dense.value and "needs a GPU" in rows["heedful spans, 2 × 1,024 packed"].note
    at = attention.sentences(3, seed=1)
    assert at.filling == "in_turn" and at.segments.shape == (3, attention.ROW)
    counts = torch.bincount(at.segments[0])[1:]
    assert 20 < counts.float().mean() < 40 and counts.max() <= 256
    assert at.real.float().mean() > 0.9


SMALL = complexity.Measuring(
    base=Size(n=32, d=64, k=3, r=8),
    sweeps={"n": (32, 64), "d": (64, 128), "k": (3, 5), "r": (8, 16)},
    dtype=torch.float32,
    repeats=1,
)


def test_every_layer_has_a_row_for_each_letter_of_its_cost(tmp_path: Path) -> None:
    bench = bench_complexity(SMALL, CPU, lambda text: None)
    rows = {row.name: row for row in bench.rows}
    assert list(rows) == [f"{o.name}: time by {x}" for o in layers(CPU) for x in o.exponents]
    for row in rows.values():
        assert row.value is not None and not row.note, row
        assert len(row.more["points"]) == 2 and row.more["points"][0]["milliseconds"] > 0
    lstm = rows["recurrence, torch.nn.LSTM: time by d"]
    assert (lstm.more["claimed"], lstm.more["cost"], lstm.unit) == (2, "n·d²", "exponent of d")
    assert rows["convolution, torch.nn.Conv1d: time by n"].more["memory_exponent"] == pytest.approx(
        1, abs=1e-6
    )
    draw(bench.rows, tmp_path / "deep" / "x.png")
    assert (tmp_path / "deep" / "x.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(HeedfulError, match="cannot write"):
        draw(bench.rows, tmp_path / "x.nothing")
    with pytest.raises(HeedfulError, match="nothing to draw"):
        draw([Row(name="a layer", unit="exponent of n", note="failed")], tmp_path / "y.png")


def test_exponents_are_those_of_the_timings(monkeypatch: pytest.MonkeyPatch) -> None:
    """On made-up timings: 3·n·d² milliseconds."""
    monkeypatch.setattr(
        complexity, "_timed", lambda layer, size, m, device: Middle(3.0 * size.n * size.d**2, 0.5)
    )
    rows = {row.name: row for row in bench_complexity(SMALL, CPU, lambda text: None).rows}
    for name, row in rows.items():
        wanted = {"n": 1, "d": 2, "k": 0, "r": 0}[name[-1]]
        assert row.value == pytest.approx(wanted) and row.spread == pytest.approx(0)
    first = rows["recurrence, torch.nn.LSTM: time by n"].more["points"][0]
    assert (first["at"], first["milliseconds"], first["spread"]) == (32, 3.0 * 32 * 64**2, 0.5)


def test_a_size_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(size: Size, device: torch.device, dtype: torch.dtype) -> Made:
        if size.n > 50:
            raise torch.OutOfMemoryError("pages")
        x = torch.randn(size.n, requires_grad=True)
        return Made(lambda: x * x, (x,))

    layer = Layer("a layer", "n", {"n": 1}, make)
    monkeypatch.setattr(complexity, "layers", lambda device: (layer,))
    some = complexity.Measuring(
        base=SMALL.base, sweeps={"n": (16, 32, 64)}, dtype=torch.float32, repeats=1
    )
    (row,) = bench_complexity(some, CPU, lambda text: None).rows
    assert row.note == "n = 64 failed: out of memory"
    assert [p["at"] for p in row.more["points"]] == [16, 32] and row.value is not None
    (row,) = bench_complexity(
        complexity.Measuring(
            base=SMALL.base, sweeps={"n": (16, 64)}, dtype=torch.float32, repeats=1
        ),
        CPU,
        lambda text: None,
    ).rows
    assert row.value is None and "n = 64 failed: out of memory" in row.note


def test_what_is_usual_can_be_made() -> None:
    gpu = torch.device("cuda")
    assert "heedful restricted attention, blocks" in {layer.name for layer in layers(gpu)}
    assert (shape(gpu).length, shape(gpu).batch, shape(gpu).heads, shape(gpu).width) == (
        2048,
        8,
        8,
        64,
    )
    assert (lengths(gpu)[0], lengths(gpu)[-1]) == (1_024, 32_768)
    for device in (CPU, gpu):
        base, sweeps = sizes(device)
        for letter, values in sweeps.items():
            assert len(values) >= 3
            for value in values:
                size = base._replace(**{letter: value})
                assert size.d % room.WIDTH == 0 and size.n % size.r == 0 and size.k % 2 == 1

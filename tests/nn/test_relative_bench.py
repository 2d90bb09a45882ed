"""Relative attention in `bench attention` and in the claim about its memory."""

import math

import pytest
import torch

from heedful.bench import attention
from heedful.claims import relative_memory as claim
from heedful.claims.base import Context
from heedful.nn.kernels.dense import dense
from heedful.nn.layout import line
from heedful.nn.patterns import Causal, Visible
from heedful.nn.relative import Skew
from heedful.nn.sight import Sight

CPU = torch.device("cpu")


def test_the_skew_has_rows_of_time_and_memory_and_the_kernel_says_what_it_wants() -> None:
    made = attention.Measuring(
        shape=attention.Shape(batch=1, heads=2, length=32, width=32, dtype=torch.float32),
        lengths=(256, 512, 1_024),
        lengths_batch=1,
        rivals=attention.RIVALS,
        repeats=1,
    )
    rows = {r.name: r for r in attention.bench_attention(made, CPU, lambda text: None).rows}
    assert rows[f"{attention.SKEWED}, 1 × 32"].more["times_flash"] > 0
    assert 1.6 < rows[f"{attention.SKEWED}: memory by length"].value <= 2
    if not torch.cuda.is_available():
        assert "'relative' needs" in rows[f"{attention.OWN}, 1 × 32"].note


def test_what_is_timed_as_skewed_is_relative_attention() -> None:
    torch.manual_seed(0)
    at, bias = line(9, batch=2), Skew(2, 4, True, 5)
    q, k, v = (torch.randn(2, 2, 9, 4) for _ in range(3))
    seen = Sight(Visible() & Causal(), at, at)
    wanted = dense(q, k, v, seen, bias(q, at, at))
    torch.testing.assert_close(attention.skewed(q, k, v, seen, bias), wanted)
    torch.testing.assert_close(claim.skewed(q, k, v, seen, bias), wanted)
    assert not torch.allclose(claim.flash(q, k, v, seen, bias), wanted)


def test_the_sizes_of_the_paper_are_counted() -> None:
    size = claim.Size()
    assert claim.held(lambda: claim.for_pairs(size, CPU)) == pytest.approx(8_590, abs=1)
    assert claim.held(lambda: claim.for_distances(size, CPU)) == pytest.approx(4.19, abs=0.01)


def test_without_a_gpu_what_was_not_measured_is_no_number() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    found = claim.measure(Context(budget="smoke", device="cpu")).numbers
    assert all(math.isnan(found[name].mean) for name in claim.OF_KERNEL)
    assert found["pairs/relative_mb"].mean == 8 * 64 * 64 * 64 * 4 / 1e6


def test_a_power_law_is_found() -> None:
    assert claim.slope([(n, 3.0 * n**1.5) for n in (1, 2, 4, 8)]) == pytest.approx(1.5)

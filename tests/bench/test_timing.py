"""Medians, spreads and memory are right: by a clock turned by hand, and on known tensors."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from heedful.bench import timing
from heedful.bench.timing import Middle, Peak, by_clock, by_device, kept_gigabytes, rates
from heedful.errors import UsageError

from .conftest import CPU

GPU = torch.device("cuda", 0)


class Hands:
    """A clock that stands still until work moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    made = Hands()
    monkeypatch.setattr(time, "perf_counter", made)
    return made


def works(hands: Hands, seconds: Iterator[float]):
    def work() -> None:
        hands.now += next(seconds)

    return work


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_the_middle_is_the_median_and_the_spread_the_interquartile_range(count: int) -> None:
    values = np.random.default_rng(count).lognormal(size=count)
    middle = Middle.of(list(values))
    low, half, high = np.percentile(values, [25, 50, 75])
    assert middle.value == pytest.approx(half) and middle.spread == pytest.approx(high - low)


def test_one_measurement_has_no_spread_and_none_is_refused() -> None:
    assert Middle.of([3.0]) == Middle(3.0, 0.0)
    assert Middle(2.0, 0.5).times(1_000) == Middle(2_000.0, 500.0)
    with pytest.raises(UsageError, match="repeats must be 1 or more"):
        Middle.of([])


def test_a_rate_is_the_median_of_rates() -> None:
    assert rates(12, [1.0, 2.0, 4.0]) == Middle(6.0, (12 + 6) / 2 - (6 + 3) / 2)


def test_rounds_before_the_measurement_do_not_count(hands: Hands) -> None:
    seconds = iter([60.0, 30.0, 1.0, 2.0, 3.0])
    assert by_clock(works(hands, seconds), CPU, repeats=3, warmup=2) == [1.0, 2.0, 3.0]
    assert next(seconds, None) is None


def test_short_work_is_called_until_a_sample_lasts(hands: Hands) -> None:
    calls = 0

    def work() -> None:
        nonlocal calls
        calls += 1
        hands.now += timing.SAMPLE / 3.5

    found = by_device(work, CPU, repeats=3, warmup=2)
    assert found == pytest.approx([timing.SAMPLE / 3.5] * 3)
    assert calls == 2 + 1 + 3 * 4
    long = works(hands, iter([5.0, 6.0, 7.0]))
    assert by_device(long, CPU, repeats=2, warmup=0) == [6.0, 7.0]


class Event:
    """What a GPU's clock would say: milliseconds, read when it is recorded."""

    hands: Hands

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self, stream: str) -> None:
        assert stream == f"stream of {GPU}"
        self.at = self.hands.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: "Event") -> float:
        return (end.at - self.at) * 1_000


@pytest.fixture
def gpu(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A GPU as far as timing asks about it: the machine that tests run on has none."""
    held = {"allocated": 5_000, "most": 9_000, "reserved": 6_000, "synchronized": 0}
    monkeypatch.setattr(Event, "hands", hands, raising=False)

    def synchronize(device: torch.device) -> None:
        held["synchronized"] += 1

    faked = {
        "Event": Event,
        "current_stream": lambda device: f"stream of {device}",
        "synchronize": synchronize,
        "empty_cache": lambda: None,
        "reset_peak_memory_stats": lambda device: held.update(most=held["allocated"]),
        "memory_allocated": lambda device: held["allocated"],
        "memory_reserved": lambda device: held["reserved"],
        "max_memory_allocated": lambda device: held["most"],
        "max_memory_reserved": lambda device: held["reserved"],
    }
    for name, function in faked.items():
        monkeypatch.setattr(torch.cuda, name, function)
    return held


def test_a_gpu_is_timed_by_its_own_events(hands: Hands, gpu: dict[str, int]) -> None:
    seconds = iter([9.0, 0.03, 0.04, 0.05])
    found = by_device(works(hands, seconds), GPU, repeats=2, warmup=1)
    assert found == pytest.approx([0.04, 0.05]) and gpu["synchronized"] == 3


def test_short_work_of_a_gpu_is_recorded_and_replayed(
    hands: Hands, gpu: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    replays = iter([0.012, *([0.01] * 2), *([0.02] * 2)])  # twice 0.012 are a sample
    monkeypatch.setattr(timing, "Recorded", lambda work: works(hands, replays))
    seconds = iter([9.0, 0.015])
    found = by_device(works(hands, seconds), GPU, repeats=2, warmup=1)
    assert found == pytest.approx([0.01, 0.02]) and next(seconds, None) is None


def test_what_cannot_be_recorded_is_timed_as_it_is(
    hands: Hands, gpu: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(work: object) -> None:
        raise RuntimeError("it waits for the device")

    monkeypatch.setattr(timing, "Recorded", refuse)
    seconds = iter([9.0, 0.015, 0.012, *([0.01] * 2), *([0.02] * 2)])
    found = by_device(works(hands, seconds), GPU, repeats=2, warmup=1)
    assert found == pytest.approx([0.01, 0.02]) and next(seconds, None) is None


def test_by_the_clock_a_gpu_is_waited_for_before_and_after(
    hands: Hands, gpu: dict[str, int]
) -> None:
    assert by_clock(works(hands, iter([1.0, 2.0])), GPU, repeats=2, warmup=0) == [1.0, 2.0]
    assert gpu["synchronized"] == 4


def test_the_peak_of_a_gpu_is_beyond_what_it_held_before(gpu: dict[str, int]) -> None:
    peak = Peak(GPU)
    gpu.update(most=2_000_005_000, reserved=3_000_006_000)
    assert peak.gigabytes() == pytest.approx(2.0) and peak.reserved() == pytest.approx(3.0)
    gpu["allocated"] += 1_000_000_000
    peak.restart()
    assert peak.gigabytes() == pytest.approx(1.0)


def test_what_a_gpu_holds_after_a_forward_pass_is_counted_without_weights(
    gpu: dict[str, int],
) -> None:
    weight = torch.zeros(250, dtype=torch.float32)

    def make():
        gpu["allocated"] += 1_000

        def forward() -> torch.Tensor:
            gpu["allocated"] += 500
            return weight

        return forward, [weight]

    assert kept_gigabytes(make, GPU) == pytest.approx(500e-9)


def test_a_cpu_has_no_peak() -> None:
    peak = Peak(CPU)
    assert peak.gigabytes() is None and peak.reserved() is None


def test_what_is_kept_for_the_backward_pass_is_counted_once_and_without_weights() -> None:
    x = torch.randn(100, requires_grad=True)
    weight = torch.randn(100, requires_grad=True)

    def forward() -> torch.Tensor:
        y = (x * weight).exp()  # keeps x, the weight, and its own result
        return y * y  # keeps that result again

    assert kept_gigabytes(lambda: (forward, [weight]), CPU) == pytest.approx(2 * 400 / 1e9)
    assert kept_gigabytes(lambda: (forward, []), CPU) == pytest.approx(3 * 400 / 1e9)

"""Schedules against their closed forms, and against the figures Tensor2Tensor's presets reach."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.config import from_json, to_json
from heedful.optim.schedules import Constant, Cosine, Exponential, Noam, Rsqrt, Schedule


@pytest.mark.parametrize(
    ("schedule", "step", "dim", "peak"),
    [
        (Noam(), 4000, 512, 7.0e-4),  # transformer_base of the paper
        (Noam(scale=2.0, warmup=8000), 8000, 512, 9.9e-4),  # transformer_base_v3
        (Rsqrt(scale=0.1, warmup=16000), 16000, 512, 7.9e-4),  # transformer_base_single_gpu
        (Noam(scale=2.0, warmup=16000), 16000, 1024, 4.9e-4),  # transformer_big_single_gpu
    ],
    ids=["base", "base_v3", "base_single_gpu", "big_single_gpu"],
)
def test_peaks_are_those_of_tensor2tensor(schedule, step, dim, peak):
    assert schedule.rate(step, dim) == pytest.approx(peak, rel=0.01)
    around = [schedule.rate(s, dim) for s in (step - 1, step + 1)]
    assert all(rate < schedule.rate(step, dim) for rate in around)


@given(step=st.integers(1, 200_000), warmup=st.integers(1, 20_000), dim=st.sampled_from([64, 512]))
def test_noam_is_equation_3_of_the_paper(step, warmup, dim):
    expected = dim**-0.5 * min(step**-0.5, step * warmup**-1.5)
    assert Noam(warmup=warmup).rate(step, dim) == pytest.approx(expected, rel=1e-12)


@given(step=st.integers(1, 200_000), warmup=st.integers(1, 20_000))
def test_rsqrt_rises_and_falls_like_noam_whatever_the_width(step, warmup):
    rate = Rsqrt(scale=1.0, warmup=warmup).rate(step, 512)
    assert rate == pytest.approx(min(step / warmup, 1) / math.sqrt(max(step, warmup)))
    assert rate == pytest.approx(Noam(warmup=warmup).rate(step, 1), rel=1e-9)


def test_exponential_halves_after_every_so_many_steps_past_the_warm_up():
    schedule = Exponential(peak=1.0, warmup=10, decay=0.5, every=100)
    assert schedule.rate(5, 1) == pytest.approx(0.5)
    assert [schedule.rate(s, 1) for s in (10, 110, 210)] == pytest.approx([1.0, 0.5, 0.25])


def test_cosine_goes_from_the_peak_to_the_floor_and_stays_there():
    schedule = Cosine(peak=1.0, warmup=10, steps=110, floor=0.2)
    assert schedule.rate(5, 1) == pytest.approx(0.5)
    assert [schedule.rate(s, 1) for s in (10, 60, 110, 500)] == pytest.approx([1.0, 0.6, 0.2, 0.2])


def test_constant_is_constant_after_its_warm_up():
    assert [Constant(peak=2.0).rate(s, 1) for s in (1, 7, 1000)] == [2.0, 2.0, 2.0]
    assert Constant(peak=2.0, warmup=4).rate(1, 1) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", sorted(Schedule.choices))
def test_every_schedule_is_positive_from_the_first_step_and_round_trips_through_json(kind):
    schedule = Schedule.choices[kind]()
    assert all(schedule.rate(step, 64) > 0 for step in (1, 10, 1000, 50_000))
    assert from_json(Schedule, to_json(schedule)) == schedule

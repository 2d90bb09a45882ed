"""Exponents are found where they are known."""

import math

import numpy as np
import pytest

from heedful.bench.fit import PowerLaw
from heedful.errors import UsageError


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 1.0, 2.0])
def test_a_power_law_is_found_exactly(exponent: float) -> None:
    law = PowerLaw.through([(x, 3 * x**exponent) for x in (128, 256, 1024)])
    assert law.exponent == pytest.approx(exponent, abs=1e-12)
    assert law.factor == pytest.approx(3) and law.error == pytest.approx(0, abs=1e-7)


def test_the_error_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    x = np.array([128.0, 256.0, 512.0, 1024.0, 2048.0])
    y = 0.5 * x**1.7 * np.exp(rng.normal(0, 0.1, len(x)))
    law = PowerLaw.through(list(zip(x, y, strict=True)))
    (slope, start), covariance = np.polyfit(np.log(x), np.log(y), 1, cov=True)
    assert law.exponent == pytest.approx(slope) and law.factor == pytest.approx(math.exp(start))
    assert law.error == pytest.approx(math.sqrt(covariance[0, 0]))


def test_two_points_have_an_exponent_and_no_error() -> None:
    law = PowerLaw.through([(10, 5), (20, 20)])
    assert law.exponent == pytest.approx(2) and law.error == 0


@pytest.mark.parametrize("points", [[], [(4, 1)], [(4, 1), (4, 2)], [(4, 1), (8, 0)]])
def test_too_little_has_none(points: list[tuple[float, float]]) -> None:
    with pytest.raises(UsageError, match="two sizes or more"):
        PowerLaw.through(points)

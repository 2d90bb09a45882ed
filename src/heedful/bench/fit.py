"""How something grows: the exponent of a power law through measured points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heedful.errors import UsageError


@dataclass(frozen=True)
class PowerLaw:
    """y = factor · x ^ exponent, nearest to the points on a chart with two logarithmic axes."""

    exponent: float
    factor: float
    error: float  # the exponent's standard error; 0 where two points leave nothing over

    @classmethod
    def through(cls, points: Sequence[tuple[float, float]]) -> "PowerLaw":
        """By least squares on the logarithms. Two points or more, none of them 0 or less."""
        known = [(x, y) for x, y in points if x > 0 and y > 0]
        if len({x for x, _ in known}) < 2:
            raise UsageError(
                f"an exponent needs measurements at two sizes or more, got {len(known)} of "
                f"{len(points)} that are above 0. Give more sizes"
            )
        x, y = np.log(np.array(known, dtype=np.float64)).T
        away = x - x.mean()
        squares = float(away @ away)
        exponent = float(away @ y) / squares
        rest = y - y.mean() - exponent * away
        free = len(known) - 2
        error = math.sqrt(float(rest @ rest) / free / squares) if free else 0.0
        return cls(exponent, float(math.exp(y.mean() - exponent * x.mean())), error)

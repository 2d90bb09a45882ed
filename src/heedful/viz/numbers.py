"""Numbers as people read them."""

from collections.abc import Mapping
from typing import Any

NOTHING = 1e-9  # what is less than this is written as 0


def spoken(value: Any, digits: int = 3) -> str:
    """A number to so many digits, one of thousands whole; nothing for None, all else as it is.

    >>> spoken(1234567.8), spoken(0.01234), spoken(12.345, digits=4), spoken("x"), spoken(3)
    ('1,234,568', '0.0123', '12.35', 'x', '3')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        said = f"{0.0 if abs(value) < NOTHING else value:.{digits}g}"
        return f"{value:,.0f}" if abs(float(said)) >= 1_000 else said
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def spread(number: Mapping[str, Any]) -> str:
    """A mean and, where there are several seeds, what they lie between: `31.4 (30.9 to 31.8)`."""
    if number["value"] is None:
        return "not a number"
    mean, low, high = (spoken(number[name], digits=4) for name in ("value", "low", "high"))
    if len(number["by_seed"]) < 2 or number["low"] is None:
        return mean
    return f"{mean} ({low} to {high})"

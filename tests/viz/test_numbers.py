"""Numbers for people."""

import pytest

from heedful.viz.numbers import spoken, spread


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1234567.8, "1,234,568"),
        (-1234.5, "-1,234"),
        (999.4, "999"),
        (999.7, "1,000"),
        (0.01234, "0.0123"),
        (-2e-12, "0"),
        (float("inf"), "inf"),
        (1234567, "1,234,567"),
        (True, "True"),
        ("x", "x"),
        (None, ""),
    ],
)
def test_a_number_is_said_as_people_read_it(value: object, said: str) -> None:
    assert spoken(value) == said


def test_a_mean_has_what_the_seeds_lie_between_where_there_are_several() -> None:
    of = {"value": 31.444, "low": 30.93, "high": 12345.6}
    assert spread({**of, "by_seed": {"1": 30.93, "2": 12345.6}}) == "31.44 (30.93 to 12,346)"
    assert spread({**of, "by_seed": {"1": 31.444}}) == "31.44"
    odd = {"value": None, "low": None, "high": None, "by_seed": {"1": None, "2": 3.0}}
    assert spread(odd) == "not a number"
    assert spread({**odd, "value": 2.0}) == "2"

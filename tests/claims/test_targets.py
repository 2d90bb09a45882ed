"""Targets: pure functions from numbers to whether they hold, and why not."""

import math

import pytest

from heedful.claims.base import Number
from heedful.claims.targets import AtLeast, AtMost, Beats, judge

NUMBERS = {
    "ours/bleu": Number({1: 30.0, 2: 32.0}),
    "theirs/bleu": Number({1: 30.5, 2: 29.5}),
    "ours/seconds": Number({1: 100.0}),
    "broken/bleu": Number({1: math.nan}),
}


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (AtLeast("ours/bleu", 31.0), ""),
        (AtLeast("ours/bleu", 31.1), "it is 31"),
        (AtMost("ours/seconds", 100), ""),
        (AtMost("ours/seconds", 99), "it is 100"),
        (Beats("ours/bleu", "theirs/bleu"), ""),
        (Beats("ours/bleu", "theirs/bleu", by=1.0), ""),
        (Beats("ours/bleu", "theirs/bleu", by=1.5), "ours/bleu is 31, theirs/bleu is 30"),
        (Beats("theirs/bleu", "ours/bleu"), "theirs/bleu is 30, ours/bleu is 31"),
        (Beats("ours/bleu", "ours/bleu"), "ours/bleu is 31, ours/bleu is 31"),
        (AtLeast("nobody/bleu", 1), "nobody/bleu was not measured"),
        (AtMost("broken/bleu", 1), "broken/bleu was not measured"),
        (Beats("ours/bleu", "nobody/bleu"), "nobody/bleu was not measured"),
        (Beats("broken/bleu", "ours/bleu"), "broken/bleu was not measured"),
    ],
)
def test_a_target_holds_or_says_why_not(target, why: str) -> None:
    assert target.check(NUMBERS) == why


def test_all_targets_must_hold_and_each_that_does_not_is_named() -> None:
    good, slow = AtLeast("ours/bleu", 31.0), AtMost("ours/seconds", 10.0)
    assert judge([good], NUMBERS).reached and judge([good], NUMBERS).reason == ""
    verdict = judge([good, slow, Beats("ours/bleu", "peer/bleu", by=1.0)], NUMBERS)
    assert not verdict.reached
    assert verdict.reason == (
        "ours/seconds ≤ 10: it is 100; "
        "ours/bleu > peer/bleu by 1 or more: peer/bleu was not measured"
    )


def test_targets_say_themselves_in_json() -> None:
    assert AtLeast("a", 2).to_json() == {"number": "a", "at_least": 2}
    assert AtMost("a", 2).to_json() == {"number": "a", "at_most": 2}
    assert Beats("a", "b").to_json() == {"number": "a", "other": "b", "by": 0.0}


def test_a_number_has_a_mean_and_a_spread() -> None:
    assert NUMBERS["ours/bleu"].to_json() == {
        "value": 31.0,
        "low": 30.0,
        "high": 32.0,
        "by_seed": {"1": 30.0, "2": 32.0},
    }
    assert Number({1: 2.0}, "nrefs:1").to_json()["signature"] == "nrefs:1"

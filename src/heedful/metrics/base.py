"""Metrics by name: how close a set of outputs is to what it should have been.

A metric is a function of hypotheses, references and sources, one string a line. A new file in this
room, or a plug-in, adds one with `@metrics.register("name")`. Where a metric is a share it is in
percent, 0 to 100.
"""

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from heedful.errors import HeedfulError
from heedful.registry import Registry


class Score(TypedDict):
    """A number, and where one exists the signature that makes it citable."""

    value: float
    signature: NotRequired[str]


metrics: Registry[Score] = Registry("metric", "heedful.metrics")


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    names: Iterable[str],
    sources: Sequence[str] | None = None,
) -> dict[str, Score]:
    """Each named metric of all lines together: `{"bleu": {"value": 31.4, "signature": "..."}}`."""
    computes = {name: metrics.get(name) for name in names}  # a wrong name is said first
    if len(hypotheses) != len(references):
        raise HeedfulError(
            f"{len(hypotheses)} hypotheses for {len(references)} references. "
            "Line n of one must belong to line n of the other"
        )
    if sources is not None and len(sources) != len(references):
        raise HeedfulError(f"{len(sources)} sources for {len(references)} references")
    if not references:
        raise HeedfulError("there are no lines to score. Give at least one pair")
    return {
        name: compute(list(hypotheses), list(references), sources)
        for name, compute in computes.items()
    }

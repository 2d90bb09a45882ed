"""Shares: metrics that are one sum over lines divided by another, in percent.

Such a metric is a function of one hypothesis and one reference that says how much was right, out of
how much. Of several references the one that is best for a line counts.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from heedful.metrics.base import Judged, Score, metrics

Line = Callable[[str, str], tuple[float, float]]


class Share(Judged):
    """A share, computed without loading sacreBLEU where it is not needed."""

    def __init__(self, line: Line) -> None:
        super().__init__(lambda: _judge_type()(line))
        functools.update_wrapper(self, line)
        self.line = line

    def __call__(
        self, hypotheses: list[str], references: list[str], sources: Sequence[str] | None
    ) -> Score:
        lines = [self.line(h, r) for h, r in zip(hypotheses, references, strict=True)]
        return {"value": _percent(sum(a for a, _ in lines), sum(b for _, b in lines))}


def share(name: str) -> Callable[[Line], Share]:
    """Decorate a function of a line with the name its share of all lines is found by."""
    return lambda line: metrics.register(name)(Share(line))


def _percent(right: float, of: float) -> float:
    return 100.0 * right / of if of else 100.0


@functools.cache
def _judge_type() -> Any:
    """A share as a sacreBLEU metric. Made when first used: sacrebleu is slow to load."""
    from sacrebleu.metrics.base import Metric
    from sacrebleu.metrics.base import Score as Result

    class ShareJudge(Metric):
        citable = False  # sacreBLEU's signature says nothing of what is computed here

        def __init__(self, line: Line) -> None:
            super().__init__()
            self.line = line

        def _preprocess_segment(self, sent: str) -> str:
            return sent

        def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
            return {"refs": refs}

        def _compute_segment_statistics(
            self, hypothesis: str, ref_kwargs: dict[str, Any]
        ) -> list[float]:
            lines = [self.line(hypothesis, reference) for reference in ref_kwargs["refs"]]
            return list(max(lines, key=lambda line: _percent(*line)))

        def _aggregate_and_compute(self, stats: Any) -> Result:
            return self._compute_score_from_stats(
                [sum(column) for column in zip(*stats, strict=True)]
            )

        def _compute_score_from_stats(self, stats: Any) -> Result:
            return Result("share", _percent(stats[0], stats[1]))

    return ShareJudge

"""How well labels are told apart: accuracy, F1 and Matthews' correlation, all times 100.

A line without an output has no label, and is wrong.
"""

import math
from collections import Counter
from collections.abc import Sequence

from heedful.metrics.base import Score, metrics
from heedful.metrics.shares import share


@share("accuracy")
def accuracy(hypothesis: str, reference: str) -> tuple[float, float]:
    """Percent of texts whose label is right."""
    return hypothesis.strip() == reference.strip(), 1


@metrics.register("f1")
def f1(hypotheses: list[str], references: list[str], sources: Sequence[str] | None) -> Score:
    """2TP / (2TP + FP + FN): of two labels, for the one that sorts last (1, yes); of more,
    the mean over all labels that occur.

    A label that occurs neither among outputs nor among references has none.
    """
    said, meant = _labels(hypotheses), _labels(references)
    labels = sorted({*said, *meant} - {""})
    wanted = labels[1:] if len(labels) == 2 else labels
    scores = [_f1(label, said, meant) for label in wanted]
    return {"value": 100.0 * math.fsum(scores) / len(scores) if scores else 0.0}


@metrics.register("matthews")
def matthews(hypotheses: list[str], references: list[str], sources: Sequence[str] | None) -> Score:
    """Correlation of outputs and references, -100 to 100, and 0 where either is always the same.

    Matthews, "Comparison of the Predicted and Observed Secondary Structure of T4 Phage Lysozyme",
    1975; for more than two labels, Gorodkin's R_K, 2004.
    """
    said, meant = _labels(hypotheses), _labels(references)
    count = len(meant)
    right = sum(a == b for a, b in zip(said, meant, strict=True))
    of_said, of_meant = Counter(said), Counter(meant)
    together = sum(of_said[label] * of_meant[label] for label in of_meant)
    spread = [count**2 - sum(n**2 for n in of.values()) for of in (of_said, of_meant)]
    if not all(spread):
        return {"value": 0.0}
    return {"value": 100.0 * (right * count - together) / math.sqrt(spread[0] * spread[1])}


def _labels(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines]


def _f1(label: str, said: list[str], meant: list[str]) -> float:
    both = sum(a == b == label for a, b in zip(said, meant, strict=True))
    return 2 * both / (said.count(label) + meant.count(label))

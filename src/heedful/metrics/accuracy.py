"""Shares of lines and of tokens that are right."""

from collections.abc import Sequence

from heedful.metrics.base import Score, metrics


@metrics.register("exact_match")
def exact_match(
    hypotheses: list[str], references: list[str], sources: Sequence[str] | None
) -> Score:
    """Percent of lines that equal their reference, spaces at either end left aside."""
    right = sum(h.strip() == r.strip() for h, r in zip(hypotheses, references, strict=True))
    return {"value": 100.0 * right / len(references)}


@metrics.register("token_accuracy")
def token_accuracy(
    hypotheses: list[str], references: list[str], sources: Sequence[str] | None
) -> Score:
    """Percent of places where output and reference hold the same word.

    Words are what whitespace parts. A line has as many places as the longer of the two has words,
    so a missing word and one too many are both wrong, and 100 means that all lines agree.
    """
    right = places = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        said, meant = hypothesis.split(), reference.split()
        right += sum(a == b for a, b in zip(said, meant, strict=False))
        places += max(len(said), len(meant))
    return {"value": 100.0 * right / places if places else 100.0}

"""Shares of lines and of tokens that are right."""

from heedful.metrics.shares import share


@share("exact_match")
def exact_match(hypothesis: str, reference: str) -> tuple[float, float]:
    """Percent of lines that equal their reference, spaces at either end left aside."""
    return hypothesis.strip() == reference.strip(), 1


@share("token_accuracy")
def token_accuracy(hypothesis: str, reference: str) -> tuple[float, float]:
    """Percent of places where output and reference hold the same word.

    Words are what whitespace parts. A line has as many places as the longer of the two has words,
    so a missing word and one too many are both wrong, and 100 means that all lines agree.
    """
    said, meant = hypothesis.split(), reference.split()
    right = sum(a == b for a, b in zip(said, meant, strict=False))
    return right, max(len(said), len(meant))

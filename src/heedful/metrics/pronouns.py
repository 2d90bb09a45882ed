"""Pronouns: whether a French output refers to things by the gender they have."""

import re
from collections.abc import Sequence

from heedful.metrics.base import Score, metrics

_PRONOUN = re.compile(r"\b(?:ils?|elles?)\b", re.IGNORECASE)


@metrics.register("pronouns")
def pronouns(hypotheses: list[str], references: list[str], sources: Sequence[str] | None) -> Score:
    """Percent of lines whose il, elle, ils and elles are those of the reference, in its order.

    A line where neither has one counts as right.
    """
    right = sum(
        pronouns_of(h) == pronouns_of(r) for h, r in zip(hypotheses, references, strict=True)
    )
    return {"value": 100.0 * right / len(references)}


def pronouns_of(text: str) -> list[str]:
    """The pronouns of a text, in lower case.

    >>> pronouns_of("Elle dort quand ils mangent, dit-il.")
    ['elle', 'ils', 'il']
    """
    return [word.lower() for word in _PRONOUN.findall(text)]

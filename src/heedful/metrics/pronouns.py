"""Pronouns: whether a French output refers to things by the gender they have."""

import re

from heedful.metrics.shares import share

_PRONOUN = re.compile(r"\b(?:ils?|elles?)\b", re.IGNORECASE)


@share("pronouns")
def pronouns(hypothesis: str, reference: str) -> tuple[float, float]:
    """Percent of lines whose il, elle, ils and elles are those of the reference, in its order.

    A line where neither has one counts as right.
    """
    return pronouns_of(hypothesis) == pronouns_of(reference), 1


def pronouns_of(text: str) -> list[str]:
    """The pronouns of a text, in lower case.

    >>> pronouns_of("Elle dort quand ils mangent, dit-il.")
    ['elle', 'ils', 'il']
    """
    return [word.lower() for word in _PRONOUN.findall(text)]

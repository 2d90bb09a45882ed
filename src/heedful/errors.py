"""What went wrong, said to a person: what was asked, what is so, what to do."""

import difflib
from collections.abc import Iterable


class HeedfulError(Exception):
    """Something could not be done. The message is one line for a person; commands exit with 1."""


class UsageError(HeedfulError):
    """Something was asked for in a way that cannot be right. Commands exit with 2."""


def nearest(word: str, words: Iterable[str], most: int = 3) -> str:
    """The few of `words` that look most like `word`, as the part of a message that names them.

    >>> nearest("transformer_bas", ["transformer_base", "gnmt"])
    ' Close: transformer_base.'
    >>> nearest("zebra", ["gnmt"])
    ''
    """
    close = difflib.get_close_matches(word, list(words), n=most, cutoff=0.6)
    return f" Close: {', '.join(close)}." if close else ""

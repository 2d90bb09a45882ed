"""What counts as one word, in both languages: alignments and tokens agree on it here."""

import re

# A word keeps an apostrophe that ends it (J', qu') and an English 's or n't; marks stand alone.
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*(?:'(?:(?:s|t|hui)\b)?)?|[^\w\s]")


def words(sentence: str) -> list[str]:
    """The words of a sentence as alignments count them: J' and aime are two, didn't is one."""
    return WORD.findall(sentence)

"""Text as Moses' scripts cut it, for scores that are to stand beside those of old papers.

Koehn et al., "Moses: Open Source Toolkit for Statistical Machine Translation", ACL 2007. Written
anew from what its tokenizer and its punctuation script do to Czech, English, French and German.
Departs from Moses: its lists of abbreviations are left out, apart from single letters and German
ordinals, so "Dr. Noll" is three tokens; nothing is escaped (' stays ' and is no &apos;).
"""

import re

_LETTER, _NONE = r"[^\W\d_]", r"[\W\d_]"  # a letter, and a character that is none
_CONTROL = re.compile(r"[\x00-\x1f]")
_SPECIAL = re.compile(r"([^\w\s.'`,-]|_)")
_DOTS = re.compile(r"(\.{2,})")
_COMMA = re.compile(r"(?<=\D),|,(?=\D)|,$")
_LONE = re.compile(rf"(?<={_NONE})'(?={_NONE})|(?<={_LETTER})'(?={_NONE})")
_OPENING = re.compile(rf"(?<={_NONE})'(?={_LETTER})")
_OPENING_IN_ENGLISH = re.compile(rf"(?<=[\W_])'(?={_LETTER})")
_INNER = re.compile(rf"(?<={_LETTER})'(?={_LETTER})")
_DECADE = re.compile(r"(?<=\d)'(?=s)")
_ORDINAL = re.compile(r"[1-9]\d?")
_COMPOUND = re.compile(r"(\S)-(\S)")
_CURLY_INSIDE = re.compile(r"(?<=[a-zA-Z])[‘’](?=[a-zA-Z])")
_QUOTES = dict.fromkeys(map(ord, "„“”‘’‚«»"), '"')
_STROKES: dict[int, str] = {ord("–"): "-", ord("—"): " - ", ord("´"): "'", ord("…"): "..."}


def tokenize(text: str, language: str) -> str:
    """A line with a space between its tokens. Words keep their hyphens.

    >>> tokenize("L'eau (2,5 l) coule-t-elle?", "fr")
    "L' eau ( 2,5 l ) coule-t-elle ?"
    >>> tokenize("It's Tom's, isn't it...", "en")
    "It 's Tom 's , isn 't it ..."
    """
    text = _CONTROL.sub("", " ".join(text.split()))
    text = _SPECIAL.sub(r" \1 ", text)
    text = _DOTS.sub(r" \1 ", text)
    text = _COMMA.sub(" , ", text)
    words = _apostrophes(text, language).split()
    return " ".join(
        _full_stop(word, words[i + 1 : i + 2], language) for i, word in enumerate(words)
    )


def plain_punctuation(text: str, language: str) -> str:
    """Quotes, dashes and dots as a typewriter has them; quotes beside stops as the language has
    them (outside in English, inside in French and German, as they come in Czech).

    >>> plain_punctuation("„So“ – l’eau…", "de")
    '"So" - l\\'eau...'
    """
    text = _CURLY_INSIDE.sub("'", text).translate(_STROKES).translate(_QUOTES)
    text = text.replace("''", '"')
    if language == "en":
        return re.sub(r'"([,.]+)', r'\1"', text)
    if language == "cs":
        return text
    return re.sub(r'(\.+)"', r'"\1', text.replace(',"', '",'))


def split_compounds(text: str) -> str:
    """Hyphens inside words as tokens of their own, once between any two characters.

    >>> split_compounds("ein S-Bahn-Zug - alt")
    'ein S ##AT##-##AT## Bahn ##AT##-##AT## Zug - alt'
    """
    return _COMPOUND.sub(r"\1 ##AT##-##AT## \2", text)


def _apostrophes(text: str, language: str) -> str:
    """English leans them on what follows (it 's), French on what precedes (l' eau)."""
    if language not in ("en", "fr"):
        return text.replace("'", " ' ")
    text = _LONE.sub(" ' ", text)
    if language == "fr":
        return _INNER.sub("' ", _OPENING.sub(" ' ", text))
    text = _OPENING_IN_ENGLISH.sub(" ' ", text)
    return _DECADE.sub(" '", _INNER.sub(" '", text))


def _full_stop(word: str, after: list[str], language: str) -> str:
    """A word without the full stop at its end, unless that belongs to it."""
    stem = word.removesuffix(".")
    if stem in ("", word) or set(stem) == {"."}:
        return word
    if after and (
        ("." in stem and re.search(_LETTER, stem))
        or after[0][0].islower()
        or (len(stem) == 1 and stem.isalpha() and (language != "en" or stem.isupper()))
        or (language == "de" and _ORDINAL.fullmatch(stem))
    ):
        return word
    return f"{stem} ."

"""Strings to ids and back, in several ways; each is a choice for `--set problem.text=…`."""

from heedful.text import bytes, chars, subwords, symbols, vocabulary, words

__all__ = ["bytes", "chars", "subwords", "symbols", "vocabulary", "words"]

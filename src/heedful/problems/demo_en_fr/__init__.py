"""A small English and French of our own: endless sentence pairs, each with its one translation.

The language is rich (agreement, elision, word order, tense, pronouns that need understanding) and
deterministic: an English sentence has exactly one French. Where English leaves something open, a
convention closes it: "you" is vous, polite, one man; "I" and "we" are masculine; "they" without
an antecedent is ils; an event's past is passé composé, a state's and "was doing" imparfait.
"""

from .splits import SPLITS, pairs
from .utterance import Pair
from .words import words

__all__ = ["SPLITS", "Pair", "pairs", "words"]

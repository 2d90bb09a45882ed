"""The speaker: picks a construction by its weight and says a sentence of it."""

from collections.abc import Callable

from .compounds import Compounds
from .dice import Dice
from .pieces import Pieces
from .questions import Questions
from .statements import Sentence, Statements

# How often each construction is spoken, against the others; coreference comes on top.
WEIGHTS = {
    "does_something": 270,
    "acts": 80,
    "moves": 60,
    "is_somehow": 95,
    "compared": 40,
    "to_somebody": 50,
    "gives": 40,
    "puts": 20,
    "needs": 15,
    "likes_generally": 22,
    "finds_nothing": 15,
    "again": 60,
    "relative": 55,
    "because": 30,
    "joined": 25,
    "thinks": 22,
    "in_order_to": 14,
    "there_is": 22,
    "commands": 22,
    "exclaims": 10,
    "presents": 22,
    "weather": 6,
    "asks": 110,
}


class Speaker:
    """Says random sentences in both languages at once, of any construction but coreference."""

    def __init__(self, dice: Dice):
        self.dice = dice
        pieces = Pieces(dice)
        kinds = Statements(pieces), Compounds(pieces), Questions(pieces)
        deck: list[Callable[[], Sentence]] = []
        for name, weight in WEIGHTS.items():
            construction = next(getattr(kind, name) for kind in kinds if hasattr(kind, name))
            deck += [construction] * weight
        self.deck = deck

    def speak(self) -> Sentence:
        """One sentence."""
        return self.dice.pick(self.deck)()

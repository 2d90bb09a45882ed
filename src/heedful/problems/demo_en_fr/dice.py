"""Choosing at random, quickly: every choice in the language goes through here."""

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """A thin face on random.Random. Weights are said by repeating an item in its deck."""

    __slots__ = ("random",)

    def __init__(self, rng: random.Random):
        self.random = rng.random

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each alike."""
        return items[int(self.random() * len(items))]

    def chance(self, probability: float) -> bool:
        """True that often."""
        return self.random() < probability

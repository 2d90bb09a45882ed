"""Algorithmic problems: symbols in, symbols out, by a rule that a program could follow in a line.

The names and rules are Tensor2Tensor's. Train, valid and test are drawn alike (a short sequence is
bound to turn up in more than one of them); `test_long` has longer sequences than were trained on,
and shows whether it was the rule that was learnt.

Departs from Tensor2Tensor: its only held-out split is the long one. The sign between the numbers of
a sum or product has an id of its own inside the vocabulary. Zipf's symbols begin at 0. The
`nlplike` problems have a `test_long` ten times as long, where there the lengths are the same.
"""

import math
import random
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.symbols import Symbols

TEST_LONG = "test_long"

Pair = tuple[list[int], list[int]]


@dataclass(frozen=True, kw_only=True)
class Algorithmic(Problem):
    """What the algorithmic problems share: lengths, sizes and splits."""

    train_length: int = 40  # the longest input of train, valid and test
    eval_length: int = 400  # the longest input of test_long
    train_examples: int = 100_000
    valid_examples: int = 1_000
    test_examples: int = 1_000  # of test and of test_long

    def __post_init__(self) -> None:
        for field in ("train_length", "eval_length"):
            if getattr(self, field) < self.shortest:
                raise UsageError(
                    f"{field} must be at least {self.shortest}, got {getattr(self, field)}"
                )

    @property
    def shortest(self) -> int:
        """The least that the longest input may be."""
        return 1

    @property
    @abstractmethod
    def alphabet(self) -> int:
        """How many symbols there are, those of inputs and of targets together."""

    @abstractmethod
    def pairs(self, longest: int, rng: random.Random) -> Iterator[Pair]:
        """Inputs of at most `longest` symbols with their targets, without end."""

    @property
    def features(self) -> dict[str, Feature]:
        feature = Feature(Symbols(self.alphabet))
        return {"inputs": feature, "targets": feature}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {
            TRAIN: self.train_examples,
            VALID: self.valid_examples,
            TEST: self.test_examples,
            TEST_LONG: self.test_examples,
        }

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        if split not in self.sizes:
            raise UsageError(f"no split named '{split}'. There are: {', '.join(self.sizes)}")
        # The split goes into the seed, so that splits differ even when their generators do not.
        own = random.Random(f"{split}/{rng.getrandbits(64)}")
        longest = self.eval_length if split == TEST_LONG else self.train_length
        for inputs, targets in self.pairs(longest, own):
            yield {"inputs": inputs, "targets": targets}


@dataclass(frozen=True, kw_only=True)
class Sequences(Algorithmic):
    """Problems on sequences of any length up to the longest, every symbol as likely."""

    symbols: int = 10  # 0 to symbols - 1 are what inputs are made of

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.symbols < 1:
            raise UsageError(f"symbols must be at least 1, got {self.symbols}")

    @property
    def alphabet(self) -> int:
        return self.symbols

    @abstractmethod
    def answer(self, inputs: list[int]) -> list[int]:
        """The targets that belong to these inputs."""

    def pairs(self, longest: int, rng: random.Random) -> Iterator[Pair]:
        while True:
            inputs = rng.choices(range(self.symbols), k=rng.randint(1, longest))
            yield inputs, self.answer(inputs)


@dataclass(frozen=True, kw_only=True)
class Identity(Sequences):
    """Say a sequence again as it is."""

    def answer(self, inputs: list[int]) -> list[int]:
        return list(inputs)


@dataclass(frozen=True, kw_only=True)
class Shift(Sequences):
    """Add the same number to each symbol."""

    shift: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shift < 0:
            raise UsageError(f"shift must not be negative, got {self.shift}")

    @property
    def alphabet(self) -> int:
        return self.symbols + self.shift

    def answer(self, inputs: list[int]) -> list[int]:
        return [symbol + self.shift for symbol in inputs]


@dataclass(frozen=True, kw_only=True)
class Reverse(Sequences):
    """Say a sequence backwards: the last symbol in is the first one out."""

    def answer(self, inputs: list[int]) -> list[int]:
        return inputs[::-1]


@dataclass(frozen=True, kw_only=True)
class Sort(Sequences):
    """Say the same symbols from the least to the greatest."""

    def answer(self, inputs: list[int]) -> list[int]:
        return sorted(inputs)


@dataclass(frozen=True, kw_only=True)
class ReverseNlplike(Reverse):
    """Say backwards what is as frequent as words: Zipf's law, and lengths round a mean."""

    zipf: float = 1.3  # the symbol of rank r is as likely as r ** -zipf

    def pairs(self, longest: int, rng: random.Random) -> Iterator[Pair]:
        weights = (math.pow(rank, -self.zipf) for rank in range(1, self.symbols + 1))
        cumulated = list(accumulate(weights))
        while True:
            length = min(int(abs(rng.gauss(longest / 2, longest / 10)) + 1), longest)
            inputs = rng.choices(range(self.symbols), cum_weights=cumulated, k=length)
            yield inputs, self.answer(inputs)


@dataclass(frozen=True, kw_only=True)
class Arithmetic(Algorithmic):
    """The sum or product of two numbers, least digit first, with the symbol `base` between them.

    In base 10, 12 + 345 is [2, 1, 10, 5, 4, 3] and its target, 357, is [7, 5, 3].
    """

    operation: Literal["addition", "multiplication"] = "addition"
    base: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.base < 2:
            raise UsageError(f"base must be at least 2, got {self.base}")

    @property
    def shortest(self) -> int:
        return 3  # a digit, the sign, a digit

    @property
    def alphabet(self) -> int:
        return self.base + 1

    def pairs(self, longest: int, rng: random.Random) -> Iterator[Pair]:
        while True:
            length = rng.randint(1, longest // 2)
            left = self._digits_at_random(length, rng)
            right = self._digits_at_random(rng.randint(1, longest - length - 1), rng)
            a, b = self._number(left), self._number(right)
            result = a + b if self.operation == "addition" else a * b
            yield [*left, self.base, *right], self._digits(result)

    def _digits_at_random(self, length: int, rng: random.Random) -> list[int]:
        digits = rng.choices(range(self.base), k=length)
        if length > 1:  # the greatest digit is last, and is 0 only in the number 0
            digits[-1] = rng.randrange(1, self.base)
        return digits

    def _number(self, digits: list[int]) -> int:
        number = 0
        for digit in reversed(digits):
            number = number * self.base + digit
        return number

    def _digits(self, number: int) -> list[int]:
        digits = []
        while True:
            number, digit = divmod(number, self.base)
            digits.append(digit)
            if not number:
                return digits


@problems.register("algorithmic_identity_binary40")
def identity_binary40() -> Identity:
    """Copy a sequence of bits."""
    return Identity(symbols=2)


@problems.register("algorithmic_identity_decimal40")
def identity_decimal40() -> Identity:
    """Copy a sequence of decimal digits."""
    return Identity(symbols=10)


@problems.register("algorithmic_shift_decimal40")
def shift_decimal40() -> Shift:
    """Add ten to each of a sequence of decimal digits."""
    return Shift(symbols=10, shift=10, eval_length=80)


@problems.register("algorithmic_reverse_binary40")
def reverse_binary40() -> Reverse:
    """Reverse a sequence of bits."""
    return Reverse(symbols=2)


@problems.register("algorithmic_reverse_decimal40")
def reverse_decimal40() -> Reverse:
    """Reverse a sequence of decimal digits."""
    return Reverse(symbols=10)


@problems.register("algorithmic_reverse_nlplike8k")
def reverse_nlplike8k() -> ReverseNlplike:
    """Reverse a sequence of 8,000 symbols that are as frequent as words are."""
    return ReverseNlplike(symbols=8_000, zipf=1.3, train_length=70, eval_length=700)


@problems.register("algorithmic_reverse_nlplike32k")
def reverse_nlplike32k() -> ReverseNlplike:
    """Reverse a sequence of 32,000 symbols that are as frequent as words are."""
    return ReverseNlplike(symbols=32_000, zipf=1.05, train_length=70, eval_length=700)


@problems.register("algorithmic_addition_binary40")
def addition_binary40() -> Arithmetic:
    """Add two binary numbers, least digit first."""
    return Arithmetic(operation="addition", base=2)


@problems.register("algorithmic_addition_decimal40")
def addition_decimal40() -> Arithmetic:
    """Add two decimal numbers, least digit first."""
    return Arithmetic(operation="addition", base=10)


@problems.register("algorithmic_multiplication_binary40")
def multiplication_binary40() -> Arithmetic:
    """Multiply two binary numbers, least digit first."""
    return Arithmetic(operation="multiplication", base=2)


@problems.register("algorithmic_multiplication_decimal40")
def multiplication_decimal40() -> Arithmetic:
    """Multiply two decimal numbers, least digit first."""
    return Arithmetic(operation="multiplication", base=10)


@problems.register("algorithmic_sort_problem")
def sort_problem() -> Sort:
    """Sort a sequence of symbols."""
    return Sort(symbols=20, train_length=10, eval_length=20)

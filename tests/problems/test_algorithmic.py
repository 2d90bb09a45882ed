"""Each algorithmic problem's target is what plain arithmetic says it is."""

import itertools
import random
from collections import Counter
from collections.abc import Callable

import pytest

from heedful.config import from_json, to_json, vary
from heedful.errors import UsageError
from heedful.problems.algorithmic import Algorithmic, Arithmetic, Shift
from heedful.problems.base import Example
from heedful.registry import problems


def number(digits: list[int], base: int) -> int:
    """Digits, least first, as Python reads them the other way round."""
    assert digits == [0] or digits[-1] != 0, "a number has no leading zeros"
    return int("".join(str(digit) for digit in reversed(digits)), base)


def operands(inputs: list[int], base: int) -> tuple[int, int]:
    assert inputs.count(base) == 1
    at = inputs.index(base)
    return number(inputs[:at], base), number(inputs[at + 1 :], base)


def adds(base: int) -> Callable[[list[int], list[int]], bool]:
    return lambda inputs, targets: number(targets, base) == sum(operands(inputs, base))


def multiplies(base: int) -> Callable[[list[int], list[int]], bool]:
    def right(inputs: list[int], targets: list[int]) -> bool:
        a, b = operands(inputs, base)
        return number(targets, base) == a * b

    return right


def reverses(inputs: list[int], targets: list[int]) -> bool:
    return list(reversed(inputs)) == targets


def counts_up(inputs: list[int], targets: list[int]) -> bool:
    in_order = all(a <= b for a, b in itertools.pairwise(targets))
    return in_order and Counter(inputs) == Counter(targets)


# name -> (is it right?, how many symbols, longest in training, longest in test_long)
RULES: dict[str, tuple[Callable[[list[int], list[int]], bool], int, int, int]] = {
    "algorithmic_identity_binary40": (lambda i, t: i == t, 2, 40, 400),
    "algorithmic_identity_decimal40": (lambda i, t: i == t, 10, 40, 400),
    "algorithmic_shift_decimal40": (
        lambda i, t: max(i) < 10 and [s - 10 for s in t] == i,
        20,
        40,
        80,
    ),
    "algorithmic_reverse_binary40": (reverses, 2, 40, 400),
    "algorithmic_reverse_decimal40": (reverses, 10, 40, 400),
    "algorithmic_reverse_nlplike8k": (reverses, 8_000, 70, 700),
    "algorithmic_reverse_nlplike32k": (reverses, 32_000, 70, 700),
    "algorithmic_addition_binary40": (adds(2), 3, 40, 400),
    "algorithmic_addition_decimal40": (adds(10), 11, 40, 400),
    "algorithmic_multiplication_binary40": (multiplies(2), 3, 40, 400),
    "algorithmic_multiplication_decimal40": (multiplies(10), 11, 40, 400),
    "algorithmic_sort_problem": (counts_up, 20, 10, 20),
}
NAMES = list(RULES)


def drawn(problem: Algorithmic, split: str, seed: str, most: int = 300) -> list[Example]:
    return list(itertools.islice(problem.examples(split, random.Random(seed)), most))


def test_tensor2tensors_names_are_all_there() -> None:
    assert set(NAMES) <= set(problems.names("algorithmic_*"))
    assert all(problems.describe(name) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_targets_follow_the_rule_at_every_length(name: str) -> None:
    right, symbols, trained, longer = RULES[name]
    problem = problems.get(name)()
    for split, longest in [
        ("train", trained),
        ("valid", trained),
        ("test", trained),
        ("test_long", longer),
    ]:
        examples = drawn(problem, split, name, 100 if split == "test_long" else 300)
        for example in examples:
            inputs, targets = example["inputs"], example["targets"]
            assert right(inputs, targets), (inputs, targets)
            assert 1 <= len(inputs) <= longest
            assert all(type(s) is int and 0 <= s < symbols for s in [*inputs, *targets])
        assert max(len(example["inputs"]) for example in examples) > longest * 0.7
    tokenizer = problem.features["inputs"].text.train([])
    assert tokenizer.size == symbols + 3
    assert problem.features["inputs"] == problem.features["targets"]


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_the_same_for_the_same_split_and_generator(name: str) -> None:
    problem = problems.get(name)()
    streams = {split: drawn(problem, split, "seed", 50) for split in problem.sizes}
    assert streams == {split: drawn(problem, split, "seed", 50) for split in problem.sizes}
    for one, other in itertools.combinations(streams, 2):
        assert streams[one] != streams[other]
    assert drawn(problem, "train", "other seed", 50) != streams["train"]


def test_long_inputs_are_not_shared_between_splits() -> None:
    problem = problems.get("algorithmic_reverse_decimal40")()
    seen = [
        {tuple(e["inputs"]) for e in drawn(problem, split, "1", 3_000) if len(e["inputs"]) > 12}
        for split in ("train", "valid", "test")
    ]
    assert all(one.isdisjoint(other) for one, other in itertools.combinations(seen, 2))


def test_every_length_and_symbol_turns_up() -> None:
    examples = drawn(problems.get("algorithmic_reverse_decimal40")(), "train", "1", 2_000)
    assert {len(e["inputs"]) for e in examples} == set(range(1, 41))
    assert {s for e in examples for s in e["inputs"]} == set(range(10))
    sums = drawn(problems.get("algorithmic_addition_decimal40")(), "train", "1", 5_000)
    assert {e["inputs"].index(10) for e in sums} == set(range(1, 21))
    assert {len(e["inputs"]) for e in sums} == set(range(3, 41))


def test_nlplike_symbols_follow_zipfs_law() -> None:
    examples = drawn(problems.get("algorithmic_reverse_nlplike8k")(), "train", "1", 2_000)
    counts = Counter(s for e in examples for s in e["inputs"])
    assert counts[0] / counts[1] == pytest.approx(2**1.3, rel=0.1)
    assert counts[0] / counts[9] == pytest.approx(10**1.3, rel=0.2)
    lengths = [len(e["inputs"]) for e in examples]
    assert sum(lengths) / len(lengths) == pytest.approx(35.5, abs=1)


def test_fields_can_be_varied_and_written() -> None:
    problem = problems.get("algorithmic_reverse_decimal40")()
    varied = vary(problem, {"train_length": "5", "symbols": "3", "train_examples": "10"})
    assert varied.sizes == {"train": 10, "valid": 1_000, "test": 1_000, "test_long": 1_000}
    assert max(len(e["inputs"]) for e in drawn(varied, "test", "1")) == 5
    assert from_json(type(varied), to_json(varied)) == varied


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Arithmetic(train_length=2), "train_length must be at least 3, got 2"),
        (lambda: Arithmetic(base=1), "base must be at least 2"),
        (lambda: Shift(shift=-1), "shift must not be negative"),
        (lambda: Shift(symbols=0), "symbols must be at least 1"),
        (lambda: Shift(eval_length=0), "eval_length must be at least 1"),
        (lambda: drawn(Shift(), "dev", "1"), "no split named 'dev'. There are: train"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        make()

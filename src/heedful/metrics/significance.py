"""Whether one system is better than another, or only luckier with these lines.

Koehn, "Statistical Significance Tests for Machine Translation Evaluation", EMNLP 2004 (bootstrap).
Riezler and Maxwell, "On Some Pitfalls in Automatic Evaluation and Significance Testing for MT",
ACL workshop 2005 (approximate randomisation).

For BLEU, chrF and TER both tests are sacreBLEU's. For shares they are the same tests with one
change: a difference as large as the one found counts as chance too. Shares take few values, so that
ties are common, and without it one line that differs would always seem significant.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from heedful.metrics.base import SEED, Interval, Score, check_pairs, judge_of, seeded, verdict


@dataclass(frozen=True)
class Chance:
    """How the tests draw, and with what seed."""

    samples: int = 1_000  # of the bootstrap
    trials: int = 10_000  # of the randomisation
    seed: int = SEED


@dataclass(frozen=True)
class Comparison:
    """Two systems by one metric. A p-value is how often chance alone would part them as far."""

    first: Score
    second: Score
    difference: float  # second minus first
    p_bootstrap: float
    p_randomization: float
    samples: int
    trials: int
    seed: int


def compare(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Iterable[str],
    chance: Chance | None = None,
) -> dict[str, Comparison]:
    """Each named metric of two systems on the same lines, tested both ways.

    `references` is a list of whole sets. Intervals are those of the bootstrap test.
    """
    judges = {name: judge_of(name) for name in names}
    sets = [list(lines) for lines in references]
    for lines in sets:
        check_pairs(first, lines)
        check_pairs(second, lines)
    systems = (list(first), list(second))
    return {
        name: _compare(judge, systems, sets, chance or Chance()) for name, judge in judges.items()
    }


def _compare(
    judge: Any, systems: tuple[list[str], list[str]], sets: list[list[str]], chance: Chance
) -> Comparison:
    first, second = (verdict(judge, lines, sets) for lines in systems)
    difference = second["value"] - first["value"]
    with seeded(chance.seed):
        if getattr(judge, "citable", True):
            p_values, spreads = _by_sacrebleu(judge, systems, sets, chance)
        else:
            p_values, spreads = _by_ties(judge, systems, sets, chance, abs(difference))
    if difference == 0:  # chance always parts them as far; sacreBLEU may give the smallest p
        p_values = (1.0, 1.0)
    for found, (mean, half) in zip((first, second), spreads, strict=True):
        found["interval"] = Interval(
            mean=float(mean), half=float(half), samples=chance.samples, seed=chance.seed
        )
    return Comparison(
        first=first,
        second=second,
        difference=difference,
        p_bootstrap=float(p_values[0]),
        p_randomization=float(p_values[1]),
        samples=chance.samples,
        trials=chance.trials,
        seed=chance.seed,
    )


Tested = tuple[tuple[float, float], list[tuple[float, float]]]  # p-values; mean and half of each


def _by_sacrebleu(judge: Any, systems: Any, sets: list[list[str]], chance: Chance) -> Tested:
    from sacrebleu.significance import PairedTest

    named = list(zip(("first", "second"), systems, strict=True))
    results = []
    for kind, count in ("bs", chance.samples), ("ar", chance.trials):
        _, tested = PairedTest(named, {"": judge}, sets, kind, count)()
        found: list[Any] = next(found for key, found in tested.items() if key != "System")
        results.append(found)
    bootstrap, randomization = results
    spreads = [(result.mean, result.ci) for result in bootstrap]
    return (bootstrap[1].p_value, randomization[1].p_value), spreads


def _by_ties(
    judge: Any, systems: Any, sets: list[list[str]], chance: Chance, found: float
) -> Tested:
    """sacreBLEU's two tests, with ties counted as chance."""
    import numpy as np
    from sacrebleu.significance import estimate_ci

    stats = np.array([judge._extract_corpus_statistics(s, sets) for s in systems])  # [2, lines, 2]
    lines = stats.shape[1]

    def shares(sums: Any) -> Any:
        return np.array([judge._compute_score_from_stats(both).score for both in sums])

    def p_value(differences: Any) -> float:
        return (np.sum(differences >= found - 1e-9) + 1) / (len(differences) + 1)

    rng = np.random.default_rng(chance.seed)
    drawn = rng.choice(lines, size=(chance.samples, lines), replace=True)
    first, second = (shares([system[rows].sum(0) for rows in drawn]) for system in stats)
    apart = np.abs(second - first)
    p_bootstrap = p_value(apart - apart.mean())

    swap = np.random.default_rng(chance.seed).integers(2, size=(chance.trials, lines), dtype=bool)
    mixed, rest = swap @ stats[0] + ~swap @ stats[1], ~swap @ stats[0] + swap @ stats[1]
    p_randomization = p_value(np.abs(shares(mixed) - shares(rest)))
    return (p_bootstrap, p_randomization), [estimate_ci(first), estimate_ci(second)]

"""Metrics by name: how close a set of outputs is to what it should have been.

A metric is a function of hypotheses, references and sources, one string a line. A new file in this
room, or a plug-in, adds one with `@metrics.register("name")`. Where a metric is a share it is in
percent, 0 to 100.

Most metrics are more than that: registered with `@judged("name")` (or `@share("name")`, in
`shares.py`), they are sacreBLEU metrics inside, and so can do what those can: several references,
intervals by bootstrap resampling, and paired tests.
"""

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NotRequired, TypedDict

from heedful.errors import HeedfulError, UsageError
from heedful.registry import Registry

SEED = 12345  # sacreBLEU's own, so that intervals agree with those it prints
LOWER = frozenset({"loss", "perplexity", "ter"})  # metrics of which less is better


class Interval(TypedDict):
    """The 95 % interval of the scores of resampled lines, as sacreBLEU has it: mean ± half."""

    mean: float
    half: float
    samples: int
    seed: int


class Score(TypedDict):
    """A number, and where one exists the signature that makes it citable."""

    value: float
    signature: NotRequired[str]
    interval: NotRequired[Interval]


metrics: Registry[Score] = Registry("metric", "heedful.metrics")


class Judged:
    """A metric that a sacreBLEU metric, made anew by `judge`, computes."""

    def __init__(self, judge: Callable[[], Any]) -> None:
        functools.update_wrapper(self, judge)
        self.judge = judge

    def __call__(
        self, hypotheses: list[str], references: list[str], sources: Sequence[str] | None
    ) -> Score:
        return verdict(self.judge(), hypotheses, [references])


def judged(name: str) -> Callable[[Callable[[], Any]], Judged]:
    """Decorate a function that makes a sacreBLEU metric with the name that metric is found by."""
    return lambda judge: metrics.register(name)(Judged(judge))


def judge_of(name: str) -> Any:
    """The sacreBLEU metric behind a name, or an error for a metric that has none."""
    metric = metrics.get(name)
    if not isinstance(metric, Judged):
        raise UsageError(
            f"metric '{name}' knows one reference and no resampling. "
            "Leave it out, or give one reference and no --bootstrap or --paired"
        )
    return metric.judge()


def verdict(
    judge: Any, hypotheses: list[str], references: Sequence[list[str]], bootstrap: int = 0
) -> Score:
    """What a judge says of all lines together, with an interval if there are `bootstrap` samples.

    `references` is a list of whole sets, as sacreBLEU takes them.
    """
    if bootstrap > 1:
        return _resampled(judge, hypotheses, references, bootstrap)
    result = judge.corpus_score(hypotheses, references)
    return _signed(judge, float(result.score))


def _resampled(
    judge: Any, hypotheses: list[str], references: Sequence[list[str]], samples: int
) -> Score:
    """What `corpus_score(n_bootstrap=samples)` does, which fails where floats of two kinds meet."""
    from sacrebleu.significance import _bootstrap_resample

    stats = judge._extract_corpus_statistics(hypotheses, references)
    result = judge._aggregate_and_compute(stats)
    judge.n_bootstrap = samples
    judge.seed, drawn = _bootstrap_resample(stats, judge, samples)
    for one in drawn:
        one.score = float(one.score)
    result.estimate_ci(drawn)
    found = _signed(judge, float(result.score))
    found["interval"] = Interval(
        mean=result._mean, half=result._ci, samples=samples, seed=int(judge.seed)
    )
    return found


def _signed(judge: Any, value: float) -> Score:
    if not getattr(judge, "citable", True):
        return {"value": value}
    return {"value": value, "signature": str(judge.get_signature())}


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Resampling inside draws from this seed: sacreBLEU takes it from the environment only."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    names: Iterable[str],
    sources: Sequence[str] | None = None,
    others: Sequence[Sequence[str]] = (),
    bootstrap: int = 0,
    seed: int = SEED,
) -> dict[str, Score]:
    """Each named metric of all lines together: `{"bleu": {"value": 31.4, "signature": "..."}}`.

    `others` are further sets of references, each as long as the first. With `bootstrap` samples
    each score has an interval.
    """
    computes = {name: metrics.get(name) for name in names}  # a wrong name is said first
    for more in (references, *others):
        check_pairs(hypotheses, more)
    if sources is not None and len(sources) != len(references):
        raise HeedfulError(f"{len(sources)} sources for {len(references)} references")
    if not others and not bootstrap:
        return {
            name: compute(list(hypotheses), list(references), sources)
            for name, compute in computes.items()
        }
    judges = {name: judge_of(name) for name in computes}
    sets = [list(references), *map(list, others)]
    with seeded(seed):
        return {
            name: verdict(judge, list(hypotheses), sets, bootstrap)
            for name, judge in judges.items()
        }


def check_pairs(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Hypotheses and references must pair up, and there must be some."""
    if len(hypotheses) != len(references):
        raise HeedfulError(
            f"{len(hypotheses)} hypotheses for {len(references)} references. "
            "Line n of one must belong to line n of the other"
        )
    if not references:
        raise HeedfulError("there are no lines to score. Give at least one pair")

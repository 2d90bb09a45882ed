"""Why one output has several BLEU scores: each of them, beside how it reads the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heedful.metrics.base import check_pairs, judge_of, metrics, verdict

# What each changes, compared with the one to cite.
CHANGES = {
    "bleu": "",
    "bleu_lowercase": "case",
    "bleu_intl": "tokens",
    "bleu_unsmoothed": "smoothing",
    "bleu_tokenized": "tokens, smoothing",
    "bleu_compound": "tokens, smoothing, compounds",
    "bleu_multi30k": "tokens, smoothing, case",
    "bleu_multi30k_cs": "tokens, smoothing, case",
    "bleu_multi30k_en": "tokens, smoothing, case",
    "bleu_multi30k_fr": "tokens, smoothing, case",
}
SEARCHED = 1_000  # lines among which the one to show is looked for


@dataclass(frozen=True)
class Reading:
    """One way to score: its value, how far it is from `bleu`, and why."""

    name: str
    value: float
    difference: float
    signature: str
    changes: str
    because: str
    tokens: str  # how it reads the line that is shown


def explain(
    hypotheses: Sequence[str], references: Sequence[str], others: Sequence[Sequence[str]] = ()
) -> list[Reading]:
    """Every BLEU there is of the same lines, the one to cite first.

    The line that is shown is the output (among the first ones) that is read in most ways.
    """
    sets = [list(references), *map(list, others)]
    for lines in sets:
        check_pairs(hypotheses, lines)
    judges = {name: judge_of(name) for name in CHANGES}
    shown = max(
        hypotheses[:SEARCHED], key=lambda line: len({_read(j, line) for j in judges.values()})
    )
    scores = {name: verdict(judge, list(hypotheses), sets) for name, judge in judges.items()}
    cited = scores["bleu"]["value"]
    return [
        Reading(
            name=name,
            value=found["value"],
            difference=found["value"] - cited,
            signature=found["signature"],
            changes=CHANGES[name],
            because=metrics.describe(name),
            tokens=_read(judges[name], shown),
        )
        for name, found in scores.items()
    ]


def _read(judge: Any, line: str) -> str:
    """A line as one of the scores sees it."""
    tokens: str = judge.tokenizer((line.lower() if judge.lowercase else line).rstrip())
    return tokens

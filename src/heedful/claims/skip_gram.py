"""Skip-gram: words of a topic, which keep each other's company, come to stand together."""

import torch
from torch import Tensor

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Paper, claims
from heedful.claims.large_vocabularies import SMALL_ZIPF
from heedful.claims.targets import AtLeast
from heedful.interop.word_vectors import vectors_of
from heedful.problems.zipf import Zipf

NEIGHBOURS = 10
FREQUENT = 1_000


@claims.register("skip_gram_topics")
def skip_gram_topics() -> Claim:
    """Of the ten words nearest to a word, nearly all are of its topic."""
    return Claim(
        name="skip_gram_topics",
        system="Skip-gram with negative sampling, vectors of 64",
        paper=Paper(
            authors="Mikolov, Sutskever, Chen, Corrado and Dean",
            title="Distributed Representations of Words and Phrases and their Compositionality",
            venue="NeurIPS 2013",
            url="https://arxiv.org/abs/1310.4546",
            where="section 2.2 and Table 1",
            figure="59 to 61 % of analogies, from a billion words of news",
        ),
        statement="Words that are used alike get vectors that are near each other.",
        task="planted_topics: the 10 nearest neighbours of the 1,000 most frequent words, and "
        "how many of them are of the word's own topic",
        targets=(AtLeast("skip_gram/purity", 0.95),),
        baselines=(Baseline(name="vectors before training", number="skip_gram/untrained_purity"),),
        cost="half a minute a seed on one CPU core",
        measure=TRAININGS,
    )


def neighbours(arm: Arm, seed: int, context: Context) -> dict[str, float]:
    """How pure the company of each word is, and how pure it would be by chance."""
    problem = TRAININGS.config(arm, seed, context.smoke).problem
    assert isinstance(problem, Zipf)
    vectors = vectors_of(context.run_of(arm.name, seed)).vectors
    groups = torch.tensor([problem.group(word) for word in range(len(vectors))])
    torch.manual_seed(seed)
    return {
        "purity": purity(vectors, groups),
        "untrained_purity": purity(torch.randn_like(vectors), groups),
    }


def purity(vectors: Tensor, groups: Tensor) -> float:
    """The share of the nearest neighbours of frequent words that are of the word's own group."""
    unit = torch.nn.functional.normalize(vectors[:FREQUENT].float(), dim=1)
    near = (unit @ unit.T).fill_diagonal_(-2.0).topk(NEIGHBOURS).indices
    return float((groups[near] == groups[: len(unit), None]).float().mean())


TRAININGS = Trainings(
    arms=(Arm(name="skip_gram", problem="planted_topics", preset="skip_gram_topics"),),
    budget=Budget(steps=400),
    seeds=(1, 2, 3),
    small=Small(
        settings={
            **SMALL_ZIPF,
            "problem.topics": 3,
            "model.dim": 8,
            "batch.row": 64,
            "batch.tokens": 256,
        }
    ),
    look=neighbours,
)

"""What the Transformer is for, on problems that need no download."""

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast

ATTENTION = {
    "authors": "Vaswani et al.",
    "title": "Attention Is All You Need",
    "venue": "NeurIPS 2017",
    "url": "https://arxiv.org/abs/1706.03762",
}

TINY_MODEL = {
    "model.dim": 16,
    "model.ff": 32,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "training.average": 1,
    "decode.beam": 2,
    "decode.extra_length": 2,
}
TINY_ALGORITHMIC = {
    "problem.train_examples": 60,
    "problem.valid_examples": 2,
    "problem.test_examples": 2,
}
TINY_DEMO = {
    "problem.train_examples": 200,
    "problem.valid_examples": 2,
    "problem.test_examples": 2,
    "problem.unseen_examples": 2,
    "problem.coreference_examples": 2,
    "problem.text.size": 300,
}
# Real corpora are stood in for by the grammar of the demo: trying the code downloads nothing.
SMALL_TRANSLATION = Small(problem="translate_demo_en_fr", settings={**TINY_MODEL, **TINY_DEMO})


@claims.register("transformer_reverse")
def transformer_reverse() -> Claim:
    """A small Transformer learns to reverse sequences of bits without a mistake."""
    return Claim(
        name="transformer_reverse",
        system="Transformer, two layers of 64",
        paper=Paper(
            authors="Vaswani et al.",
            title="Tensor2Tensor for Neural Machine Translation",
            venue="AMTA 2018",
            url="https://arxiv.org/abs/1803.07416",
            where="its problem algorithmic_reverse_binary40",
            figure="no figure; the toolkit's first test of a model",
        ),
        statement="A Transformer learns to reverse a sequence, of any length it was trained on.",
        task="algorithmic_reverse_binary40: up to 40 bits, 1,000 unseen sequences",
        targets=(AtLeast("transformer/exact_match", 100.0),),
        cost="2 minutes a seed on one CPU core",
        measure=Trainings(
            arms=(
                Arm(
                    name="transformer",
                    problem="algorithmic_reverse_binary40",
                    preset="transformer_algorithmic_tiny",
                    readings=(
                        Reading(metrics=("exact_match", "token_accuracy"), checkpoint="latest"),
                    ),
                ),
            ),
            budget=Budget(steps=1_500),
            seeds=(1,),
            small=Small(
                settings={
                    **TINY_MODEL,
                    **TINY_ALGORITHMIC,
                    "problem.train_length": 8,
                    "problem.eval_length": 16,
                    "decode.beam": 1,
                }
            ),
        ),
    )


@claims.register("demo_translation")
def demo_translation() -> Claim:
    """The demo's model translates what it has not seen, and finds what a pronoun stands for."""
    return Claim(
        name="demo_translation",
        system="Transformer, two layers of 128 (the preset of the demo)",
        paper=Paper(
            authors="Uszkoreit",
            title="Transformer: A Novel Neural Network Architecture for Language Understanding",
            venue="Google AI Blog, 2017",
            url="https://research.google/blog/"
            "transformer-a-novel-neural-network-architecture-for-language-understanding/",
            where="the figure on coreference resolution",
            figure='"it" is le or la by what is too tired or too wide',
        ),
        statement="Self-attention finds what a pronoun stands for, and so how to translate it.",
        task="translate_demo_en_fr: a grammar's English-French pairs, with tests of unseen "
        "combinations and of pronouns",
        targets=(
            AtLeast("transformer/bleu", 92.0),
            AtLeast("transformer/exact_match", 85.0),
            AtLeast("transformer/unseen_exact_match", 75.0),
            AtLeast("transformer/coreference_pronouns", 95.0),
        ),
        baselines=(Baseline(name="a coin for each pronoun", published="about 50 % of them right"),),
        cost="4 minutes a seed on two CPU cores",
        measure=Trainings(
            arms=(
                Arm(
                    name="transformer",
                    problem="translate_demo_en_fr",
                    preset="transformer_demo",
                    readings=(
                        Reading(metrics=("bleu", "exact_match"), checkpoint="average"),
                        Reading(
                            name="unseen",
                            metrics=("exact_match",),
                            split="test_unseen",
                            checkpoint="average",
                        ),
                        Reading(
                            name="coreference",
                            metrics=("pronouns",),
                            split="test_coreference",
                            checkpoint="average",
                        ),
                    ),
                ),
            ),
            budget=Budget(steps=2_400),
            small=Small(settings={**TINY_MODEL, **TINY_DEMO}),
        ),
    )

"""Recurrent translation: what reading from the end, each score and residuals are worth."""

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Paper, claims
from heedful.claims.readings import Reading
from heedful.claims.targets import AtLeast, Beats
from heedful.claims.transformer import TINY_DEMO

SUTSKEVER = {
    "authors": "Sutskever, Vinyals and Le",
    "title": "Sequence to Sequence Learning with Neural Networks",
    "venue": "NeurIPS 2014",
    "url": "https://arxiv.org/abs/1409.3215",
}
LUONG = {
    "authors": "Luong, Pham and Manning",
    "title": "Effective Approaches to Attention-based Neural Machine Translation",
    "venue": "EMNLP 2015",
    "url": "https://arxiv.org/abs/1508.04025",
}
BAHDANAU = {
    "authors": "Bahdanau, Cho and Bengio",
    "title": "Neural Machine Translation by Jointly Learning to Align and Translate",
    "venue": "ICLR 2015",
    "url": "https://arxiv.org/abs/1409.0473",
}
TINY = {
    "model.dim": 16,
    "batch.tokens": 256,
    "training.average": 1,
    "decode.beam": 2,
    "decode.extra_length": 2,
}
TINY_GENERATED = {
    "problem.train_examples": 60,
    "problem.valid_examples": 2,
    "problem.test_examples": 2,
}
SMALL_TRANSLATION = Small(problem="translate_demo_en_fr", settings={**TINY, **TINY_DEMO})
TRANSLATED = (Reading(metrics=("bleu",), checkpoint="average"),)
PAIRS = "multi30k_de_en"

# Which tests of one length are read: 30 is twice what training shows.
LENGTHS = tuple(
    Reading(
        name=f"length_{length}",
        metrics=("token_accuracy", "exact_match"),
        split=f"test_{length}",
        checkpoint="latest",
    )
    for length in (10, 15, 30)
)


@claims.register("reversed_source")
def reversed_source() -> Claim:
    """A network without attention copies better when it reads its source from the end."""
    arms = {
        "forward": ("lstm_seq2seq_copy", {"model.reading": "forward"}),
        "backward": ("lstm_seq2seq_copy", {}),
        "attention": ("lstm_search_copy", {}),
    }
    return Claim(
        name="reversed_source",
        system="LSTM encoder and decoder, one layer of 128",
        paper=Paper(
            **SUTSKEVER,
            where="section 3.3",
            figure="perplexity 5.8 to 4.7, BLEU 25.9 to 30.6 on English-French",
        ),
        statement="Reading the source from its end brings its first words near to the first words "
        "to be said, and makes a network without attention learn much better.",
        task="copy_digits: 5 to 15 digits to be said again; read at lengths of 10, 15 and 30",
        targets=(
            Beats("backward/length_15_token_accuracy", "forward/length_15_token_accuracy", by=10.0),
            AtLeast("attention/length_15_exact_match", 95.0),
        ),
        baselines=(
            Baseline(name="read forwards", number="forward/length_15_token_accuracy"),
            Baseline(name="with attention", number="attention/length_15_token_accuracy"),
        ),
        cost="2 minutes a seed and arm on a CPU core",
        measure=Trainings(
            arms=tuple(
                Arm(
                    name=name,
                    problem="copy_digits",
                    preset=preset,
                    settings=settings,
                    readings=LENGTHS,
                )
                for name, (preset, settings) in arms.items()
            ),
            budget=Budget(steps=1_600),
            small=Small(settings={**TINY, **TINY_GENERATED, "model.hidden": 16}),
            notes=("length 30 is twice what was trained on; it is read, and no target is set",),
        ),
    )


@claims.register("reversed_source_multi30k")
def reversed_source_multi30k() -> Claim:
    """Read from the end, German captions are translated better by a network without attention."""
    return Claim(
        name="reversed_source_multi30k",
        system="LSTM encoder and decoder, two layers of 512",
        paper=Paper(**SUTSKEVER, where="section 3.3", figure="BLEU 25.9 to 30.6"),
        statement="Reading the source from its end improves translation without attention.",
        task=f"{PAIRS}, test 2016, cased sacreBLEU",
        targets=(Beats("backward/bleu", "forward/bleu"),),
        baselines=(Baseline(name="read forwards", number="forward/bleu"),),
        cost="a minute a seed and arm on a GPU",
        measure=Trainings(
            arms=tuple(
                Arm(
                    name=reading,
                    problem=PAIRS,
                    preset="lstm_seq2seq_multi30k",
                    settings={"model.reading": reading},
                    readings=TRANSLATED,
                )
                for reading in ("forward", "backward")
            ),
            budget=Budget(steps=2_000),
            small=Small(
                problem="translate_demo_en_fr",
                settings={**TINY, **TINY_DEMO, "model.hidden": 16},
            ),
        ),
    )


# Scores that compare with what stands in the source, and those that do not.
CONTENT = ("additive", "concat", "normed_additive", "dot", "general", "scaled_dot", "cosine")
WINDOWS = {"local_m": "monotonic", "local_p": "predictive"}


@claims.register("attention_scores")
def attention_scores() -> Claim:
    """Every score function under one budget; the one that sees only places loses."""
    changes: dict[str, dict[str, object]] = {
        **{score: {"model.score": score} for score in (*CONTENT, "location", "gaussian")},
        **{
            name: {"model.window": window, "model.window.width": 10}
            for name, window in WINDOWS.items()
        },
        "input_feeding": {"model.feed": True},
    }
    return Claim(
        name="attention_scores",
        system="LSTM encoder both ways and decoder of 128, global attention",
        paper=Paper(
            **LUONG,
            where="Table 4",
            figure="perplexity 6.4 and BLEU 18.1 by location, 6.1 and 18.6 by dot, on "
            "English-German",
        ),
        statement="A score that compares with the source's content aligns better than one that "
        "sees only places.",
        task=f"{PAIRS}, test 2016, cased sacreBLEU, every score for as many steps",
        targets=tuple(Beats(f"{score}/bleu", "location/bleu") for score in CONTENT),
        baselines=(Baseline(name="places alone", number="location/bleu"),),
        cost="12 trainings of five minutes on a CPU core",
        measure=Trainings(
            arms=tuple(
                Arm(
                    name=name,
                    problem=PAIRS,
                    preset="luong_demo",
                    settings={"model.feed": False, **settings},
                    readings=TRANSLATED,
                )
                for name, settings in changes.items()
            ),
            budget=Budget(steps=3_000),
            seeds=(1,),
            small=Small(
                problem="translate_demo_en_fr",
                settings={**TINY, **TINY_DEMO, "model.hidden": 16, "model.encoder_hidden": 8},
            ),
        ),
    )


@claims.register("attention_dates")
def attention_dates() -> Claim:
    """Dates are rewritten without a mistake by attention of any kind, and not without it."""
    scores = ("additive", "dot", "general", "cosine")
    return Claim(
        name="attention_dates",
        system="LSTM encoder and decoder of 128, a character at a time",
        paper=Paper(
            **BAHDANAU,
            where="section 5.2",
            figure="no figure on this data; attention frees the encoder from one fixed vector",
        ),
        statement="A decoder that looks at its source learns to rearrange it in a budget in which "
        "one without attention does not.",
        task="date_normalise: 1,000 days that training never shows, in eleven forms",
        targets=(
            *(AtLeast(f"{score}/exact_match", 99.0) for score in scores),
            Beats("additive/exact_match", "none/exact_match", by=10.0),
        ),
        baselines=(Baseline(name="without attention", number="none/exact_match"),),
        cost="a minute an arm and seed on a CPU core",
        measure=Trainings(
            arms=(
                *(
                    Arm(
                        name=score,
                        problem="date_normalise",
                        preset="lstm_search_copy",
                        settings={"model.score": score, "model.encoder_hidden": 64},
                        readings=(Reading(metrics=("exact_match",), checkpoint="latest"),),
                    )
                    for score in scores
                ),
                Arm(
                    name="none",
                    problem="date_normalise",
                    preset="lstm_seq2seq_copy",
                    readings=(Reading(metrics=("exact_match",), checkpoint="latest"),),
                ),
            ),
            budget=Budget(steps=400),
            small=Small(settings={**TINY, **TINY_GENERATED}),
        ),
    )


@claims.register("gnmt_depth")
def gnmt_depth() -> Claim:
    """Eight recurrent layers learn with residuals, and lag without."""
    return Claim(
        name="gnmt_depth",
        system="GNMT, eight and eight LSTM layers of 256",
        paper=Paper(
            authors="Wu et al.",
            title="Google's Neural Machine Translation System",
            venue="2016",
            url="https://arxiv.org/abs/1609.08144",
            where="section 3.1",
            figure="simple stacks work well up to 4 layers, barely with 6, very poorly beyond 8",
        ),
        statement="With residual connections eight recurrent layers can be trained; without, they "
        "can hardly.",
        task=f"{PAIRS}, test 2016, cased sacreBLEU; with length normalisation and without",
        targets=(Beats("residuals/bleu", "none/bleu", by=3.0),),
        baselines=(
            Baseline(name="eight layers without residuals", number="none/bleu"),
            Baseline(name="four layers", number="four_layers/bleu"),
            Baseline(name="Luong's, two layers", number="luong/bleu"),
        ),
        cost="4 trainings of one to two minutes on a GPU",
        measure=Trainings(
            arms=(
                *(
                    Arm(
                        name=name,
                        problem=PAIRS,
                        preset="gnmt_multi30k",
                        settings=settings,
                        readings=(
                            *TRANSLATED,
                            Reading(
                                name="no_length_penalty",
                                metrics=("bleu",),
                                checkpoint="average",
                                decode={"alpha": 0.0, "coverage": 0.0},
                            ),
                        ),
                    )
                    for name, settings in {
                        "residuals": {"model.layers": 8},
                        "none": {"model.layers": 8, "model.residual_from": 0},
                        "four_layers": {},
                    }.items()
                ),
                Arm(name="luong", problem=PAIRS, preset="luong_multi30k", readings=TRANSLATED),
            ),
            budget=Budget(steps=2_000),
            seeds=(1,),
            small=SMALL_TRANSLATION,
        ),
    )

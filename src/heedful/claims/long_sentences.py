"""What happens to long sentences, with attention and without: the figures of Cho and Bahdanau."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Measured, Number, Paper, Point, claims
from heedful.claims.readings import Reading
from heedful.claims.recurrent import BAHDANAU, TINY
from heedful.claims.targets import AtLeast, Beats
from heedful.claims.transformer import TINY_DEMO
from heedful.data.preparation import prepare
from heedful.decoding.translator import Translator
from heedful.distributed.processes import pick_device
from heedful.metrics.base import score
from heedful.problems.base import TEST
from heedful.runs.loading import load_model

# Of the source, in words: each bucket holds those up to its number, and more than the one before's.
BUCKETS = (8, 11, 14, 100)
SHORT, LONG = BUCKETS[0], BUCKETS[-1]

# From no attention to attention alone; the floors are those of a public tutorial on this data.
LADDER: dict[str, tuple[str, float]] = {
    "lstm": ("lstm_seq2seq_multi30k", 13.8),
    "gru_context": ("rnn_encoder_decoder_multi30k", 20.6),
    "gru_attention": ("rnn_search_multi30k", 28.3),
    "transformer": ("transformer_multi30k", 36.5),
}


@claims.register("attention_long_sentences")
def attention_long_sentences() -> Claim:
    """Without attention long sentences are translated worse than short ones; with it they are
    not."""
    names = list(LADDER)
    return Claim(
        name="attention_long_sentences",
        system="LSTM (Sutskever), GRU with a summary (Cho), GRU with attention (Bahdanau), and a "
        "Transformer",
        paper=Paper(
            **BAHDANAU,
            where="Figure 2 and Table 1",
            figure="17.82 BLEU without attention and 26.75 with it, which does not fall with "
            "length",
        ),
        statement="A sentence does not fit into one vector: without attention translation gets "
        "worse with length, with it it does not.",
        task="multi30k_de_en, test 2016, cased sacreBLEU of all sentences and of each length",
        targets=(
            *(AtLeast(f"{name}/bleu", floor) for name, (_, floor) in LADDER.items()),
            *(
                Beats(f"{better}/bleu", f"{worse}/bleu")
                for worse, better in zip(names, names[1:], strict=False)
            ),
            Beats("gru_attention/bleu", "lstm/bleu", by=5.0),
            Beats("lstm/fall", "gru_attention/fall"),
        ),
        baselines=tuple(
            Baseline(name=name, number=f"{name}/bleu", published=f"{floor} BLEU in a tutorial")
            for name, (_, floor) in LADDER.items()
        ),
        cost="4 trainings of about 3 minutes on a GPU",
        measure=measure,
    )


def measure(context: Context) -> Measured:
    """Train the ladder; what comes out is a curve over lengths, and how far it falls."""
    measured = TRAININGS(context)
    numbers, curve = dict(measured.numbers), dict(measured.curve)
    for arm in TRAININGS.arms:
        falls: dict[int, float] = {}
        by_length: dict[int, dict[int, float]] = {}
        for seed in TRAININGS.seeds_of(context):
            found = by_bucket(arm, seed, context)
            falls[seed] = found[SHORT] - found[LONG]
            for bucket, value in found.items():
                by_length.setdefault(bucket, {})[seed] = value
        numbers[f"{arm.name}/fall"] = Number(falls)
        points: list[Point] = []
        for bucket, values in by_length.items():
            number = numbers[f"{arm.name}/bleu_up_to_{bucket}"] = Number(values)
            points.append({"length": bucket, "bleu": number.mean})
        curve[arm.name] = points
    return replace(measured, numbers=numbers, curve=curve)


def by_bucket(arm: Arm, seed: int, context: Context) -> Mapping[int, float]:
    """BLEU of the test's sentences of each length."""
    context.note(f"{arm.name}: decoding by length")
    place = pick_device(context.device)
    loaded = load_model(context.runs / f"{arm.name}-seed{seed}", "average", place, context.note)
    config = loaded.config
    shards = prepare(config.problem_name, config.problem, context.data, context.progress).split(
        TEST
    )
    texts = [shards.raw(i) for i in range(len(shards))]
    translator = Translator(loaded.model, loaded.tokenizers, config.preset.decode, place)
    said = [line.text for line in translator.decode([str(text["inputs"]) for text in texts])]
    sources = [str(text["inputs"]) for text in texts]
    return bleu_by_length(said, [str(text["targets"]) for text in texts], sources)


def bleu_by_length(
    said: Sequence[str], references: Sequence[str], sources: Sequence[str]
) -> dict[int, float]:
    """BLEU of each bucket of source lengths; 0 where it is empty."""
    found: dict[int, float] = dict.fromkeys(BUCKETS, 0.0)
    for least, most in zip((0, *BUCKETS), BUCKETS, strict=False):
        here = [i for i, text in enumerate(sources) if least < len(text.split()) <= most]
        if here:
            scored = score([said[i] for i in here], [references[i] for i in here], ["bleu"])
            found[most] = float(scored["bleu"]["value"])
    return found


TRAININGS = Trainings(
    arms=tuple(
        Arm(
            name=name,
            problem="multi30k_de_en",
            preset=preset,
            settings={"batch.tokens": 4_096},
            readings=(Reading(metrics=("bleu",), checkpoint="average"),),
        )
        for name, (preset, _) in LADDER.items()
    ),
    budget=Budget(steps=5_000),
    seeds=(1,),
    small=Small(problem="translate_demo_en_fr", settings={**TINY, **TINY_DEMO}),
)

"""What happens to long sentences, with attention and without: the figures of Cho and Bahdanau."""

from collections.abc import Mapping, Sequence

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Baseline, Claim, Context, Paper, claims
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

CAPTIONS, EVERYDAY = "multi30k_de_en", "tatoeba_de_en"
# Of the source, in words: each bucket holds those up to its number, and more than the one before's.
BUCKETS = {CAPTIONS: (8, 11, 14, 100), EVERYDAY: (4, 7, 10, 100)}

# From no attention to attention alone; the floors are those of a public tutorial on captions.
LADDER: dict[str, tuple[str, float]] = {
    "lstm": ("lstm_seq2seq_demo", 13.8),
    "gru_context": ("rnn_encoder_decoder_demo", 20.6),
    "gru_attention": ("rnn_search_demo", 28.3),
    "transformer": ("transformer_multi30k_cpu", 36.5),
}
BATCH: dict[str, object] = {"batch.tokens": 2_048}
# The same on everyday sentences, of which there are more, so that less has to be dropped.
RECURRENT = ("lstm", "gru_context", "gru_attention")
MORE_DATA = {**BATCH, "model.dropout": 0.1}


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
        task=f"{CAPTIONS}, test 2016, and {EVERYDAY}: cased sacreBLEU of all sentences and of each "
        "length; a fall is how many per cent less the longest have than the shortest",
        targets=(
            *(AtLeast(f"{name}/bleu", floor) for name, (_, floor) in LADDER.items()),
            *(
                Beats(f"{better}/bleu", f"{worse}/bleu")
                for worse, better in zip(names, names[1:], strict=False)
            ),
            Beats("gru_attention/bleu", "lstm/bleu", by=5.0),
            Beats("lstm/fall", "gru_attention/fall"),
            Beats("tatoeba_gru_attention/bleu", "tatoeba_lstm/bleu"),
            Beats("tatoeba_lstm/fall", "tatoeba_gru_attention/fall"),
        ),
        baselines=(
            *(
                Baseline(name=name, number=f"{name}/bleu", published=f"{floor} BLEU in a tutorial")
                for name, (_, floor) in LADDER.items()
            ),
            Baseline(name="lstm, everyday sentences", number="tatoeba_lstm/bleu"),
        ),
        cost="7 trainings of ten to twenty minutes on one CPU core",
        measure=TRAININGS,
    )


def by_length(arm: Arm, seed: int, context: Context) -> dict[str, float]:
    """BLEU of the test's sentences of each length, and how far it falls."""
    place = pick_device(context.device)
    loaded = load_model(context.run_of(arm.name, seed), "average", place, context.note)
    config = loaded.config
    shards = prepare(config.problem_name, config.problem, context.data, context.progress).split(
        TEST
    )
    texts = [shards.raw(i) for i in range(len(shards))]
    sources = [str(text["inputs"]) for text in texts]
    references = [str(text["targets"]) for text in texts]
    translator = Translator(loaded.model, loaded.tokenizers, config.preset.decode, place)
    said = [line.text for line in translator.decode(sources)]
    found = bleu_by_length(said, references, sources, BUCKETS[arm.problem])
    short, *_, long = found.values()
    each = {f"bleu_up_to_{bucket}": value for bucket, value in found.items()}
    return {**each, "fall": 100.0 * (1.0 - long / short) if short else 0.0}


def bleu_by_length(
    said: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str],
    buckets: Sequence[int],
) -> dict[int, float]:
    """BLEU of each bucket of source lengths; 0 where it is empty."""
    found: dict[int, float] = dict.fromkeys(buckets, 0.0)
    for least, most in zip((0, *buckets), buckets, strict=False):
        here = [i for i, text in enumerate(sources) if least < len(text.split()) <= most]
        if here:
            scored = score([said[i] for i in here], [references[i] for i in here], ["bleu"])
            found[most] = float(scored["bleu"]["value"])
    return found


def _arm(name: str, problem: str, preset: str, settings: Mapping[str, object]) -> Arm:
    return Arm(
        name=name,
        problem=problem,
        preset=preset,
        settings=settings,
        readings=(Reading(metrics=("bleu",), checkpoint="average"),),
    )


TRAININGS = Trainings(
    arms=(
        *(_arm(name, CAPTIONS, preset, BATCH) for name, (preset, _) in LADDER.items()),
        *(_arm(f"tatoeba_{name}", EVERYDAY, LADDER[name][0], MORE_DATA) for name in RECURRENT),
    ),
    budget=Budget(steps=2_400),
    seeds=(1,),
    small=Small(problem="translate_demo_en_fr", settings={**TINY, **TINY_DEMO}),
    look=by_length,
)

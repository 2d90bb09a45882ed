"""Whether attention finds the words that belong together: Bahdanau's figures, counted."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice

import numpy as np

from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Claim, Context, Paper, claims
from heedful.claims.dictionary import Dictionary
from heedful.claims.readings import Reading
from heedful.claims.recurrent import BAHDANAU, TINY
from heedful.claims.targets import AtLeast
from heedful.claims.transformer import TINY_DEMO
from heedful.data.preparation import prepare
from heedful.data.shards import Shards
from heedful.decoding.translator import Translator
from heedful.distributed.processes import pick_device
from heedful.problems.base import TEST, TRAIN
from heedful.problems.demo_en_fr import pairs
from heedful.problems.demo_en_fr.words import WORD
from heedful.runs.loading import load_model
from heedful.seeing.links import Span, both_ways, right, word_weights
from heedful.text.base import Tokenizer

DEMO, REAL = "demo", "de_en"
SENTENCES = 300  # of the demo's grammar that are looked at
SIDES = ("inputs", "targets")
BOTH_WAYS = "_both_ways"
READ = [f"{name}{how}" for name in ("links", "swapped_links", "swaps") for how in ("", BOTH_WAYS)]

Link = tuple[int, int]  # a word of the source and a word of the target
Links = tuple[Link, ...]
Pair = tuple[str, str]
Aligned = tuple[str, str, Links]


@claims.register("alignment")
def alignment() -> Claim:
    """The word that a recurrent decoder looks at most is the one it is saying."""
    return Claim(
        name="alignment",
        system="GRU encoder and decoder with additive attention; LSTM with Luong's general score",
        paper=Paper(
            **BAHDANAU,
            where="Figure 3",
            figure="alignments of four sentences, to be seen and not counted",
        ),
        statement="Attention aligns the words of the target with those of the source, also where "
        "their order is another.",
        task="Luong's model on translate_demo_en_fr against the grammar's own alignment; the "
        "translations of Bahdanau's of multi30k_de_en, test 2016, against words that mean each "
        "other by a dictionary learnt from the training texts alone (IBM's Model 1). A word is "
        "linked to the source word that its first piece looks at most, or (both ways) to that "
        "where this weight, times its share of all that looks at that word, is largest. Two "
        "words that changed their order are seen to (swaps) where they are linked to words in "
        "that order, which reading on from word to word never does",
        targets=(
            AtLeast(f"{DEMO}/links", 95.0),
            AtLeast(f"{REAL}/links", 85.0),
            AtLeast(f"{REAL}/swaps", 50.0),
        ),
        cost="2 small trainings: fifteen minutes each on one CPU core",
        measure=TRAININGS,
    )


def found_links(arm: Arm, seed: int, context: Context) -> dict[str, float]:
    """How many per cent of the words that have a true link are linked to what they belong to, of
    all and of those that changed their order; and of the pairs that changed their order, how many
    are seen to. By weights, and both ways."""
    place = pick_device(context.device)
    loaded = load_model(context.run_of(arm.name, seed), "average", place, context.note)
    config = loaded.config
    translator = Translator(loaded.model, loaded.tokenizers, config.preset.decode, place)
    if arm.name == DEMO:
        texts = from_grammar(5 if context.smoke else SENTENCES)
    else:
        prepared = prepare(config.problem_name, config.problem, context.data, context.progress)
        shown = trained_on(prepared.split(TRAIN), loaded.tokenizers)
        known = Dictionary.learnt(pair_of_words(*pair) for pair in shown)
        unseen = prepared.split(TEST)
        most = min(5, len(unseen)) if context.smoke else len(unseen)
        read = [str(unseen.raw(i)[SIDES[0]]) for i in range(most)]
        said = [line.text for line in translator.decode(read)]
        texts = from_dictionary(known, zip(read, said, strict=True))
    good, count = Counter[str](), Counter(dict.fromkeys(READ, 0))
    for source, target, links in texts:
        weights = word_weights(translator, source, target, spans(source), spans(target))
        swapped = list(swaps(links))
        moved = {said for pair in swapped for _, said in pair}
        for how, looks in {"": weights, BOTH_WAYS: both_ways(weights)}.items():
            for name, (found, there) in {
                f"links{how}": right(looks, links),
                f"swapped_links{how}": right(looks, [x for x in links if x[1] in moved]),
                f"swaps{how}": seen_to(looks, swapped),
            }.items():
                good[name] += found
                count[name] += there
    return {name: 100.0 * good[name] / max(1, of) for name, of in count.items()}


def from_grammar(count: int) -> Iterator[Aligned]:
    """Sentences of the demo's test, with the alignment that the grammar knows."""
    for pair in islice(pairs(TEST, random.Random(1)), count):
        yield pair.english, pair.french, pair.alignment


def trained_on(shards: Shards, tokenizers: Mapping[str, Tokenizer]) -> Iterator[Pair]:
    """The texts of a split that keeps only their ids."""
    for i in range(len(shards)):
        ids = shards.example(i)
        source, target = (tokenizers[name].decode(ids[name].tolist()) for name in SIDES)
        yield source, target


def pair_of_words(source: str, target: str) -> tuple[list[str], list[str]]:
    read, said = (WORD.findall(text.lower()) for text in (source, target))
    return read, said


def from_dictionary(known: Dictionary, texts: Iterable[Pair]) -> Iterator[Aligned]:
    """Sentences that have words of the dictionary and their translations, once each; marks are not
    counted."""
    for source, target in texts:
        read, said = pair_of_words(source, target)
        links = tuple(link for link in known.links(read, said) if read[link[0]][0].isalnum())
        if links:
            yield source, target, links


def swaps(links: Links) -> Iterator[tuple[Link, Link]]:
    """Pairs of links that cross: words that stand in another order in the target."""
    for one, other in combinations(links, 2):
        if (one[0] - other[0]) * (one[1] - other[1]) < 0:
            yield one, other


def seen_to(weights: np.ndarray, pairs: Sequence[tuple[Link, Link]]) -> tuple[int, int]:
    """Of how many pairs of words that changed their order the strongest links cross too, and how
    many pairs there are."""
    place = weights.argmax(1)
    good = sum(
        int((place[one[1]] - place[other[1]]) * (one[0] - other[0]) > 0) for one, other in pairs
    )
    return good, len(pairs)


def spans(text: str) -> list[Span]:
    return [found.span() for found in WORD.finditer(text)]


TRAININGS = Trainings(
    arms=(
        Arm(
            name=DEMO,
            problem="translate_demo_en_fr",
            preset="luong_demo",  # it looks when it knows the word before: Bahdanau's looks first
            settings={"model.dropout": 0.5},  # of what was said before: it is to look instead
            readings=(Reading(metrics=("bleu",), checkpoint="average"),),
        ),
        Arm(
            name=REAL,
            problem="multi30k_de_en",
            preset="rnn_search_demo",
            readings=(Reading(metrics=("bleu",), checkpoint="average"),),
        ),
    ),
    budget=Budget(steps=6_000),
    seeds=(1,),
    small=Small(
        problem="translate_demo_en_fr",
        settings={**TINY, **TINY_DEMO, "model.hidden": 16, "model.encoder_hidden": 8},
    ),
    look=found_links,
)

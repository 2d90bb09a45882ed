"""BLEU, chrF and TER as sacreBLEU computes them, with the signature that says how.

Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002.
Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015;
"chrF++: words helping character n-grams", WMT 2017.
Snover et al., "A Study of Translation Edit Rate with Targeted Human Annotation", AMTA 2006.
Post, "A Call for Clarity in Reporting BLEU Scores", WMT 2018, https://arxiv.org/abs/1804.08771.
"""

from typing import Any

from heedful.metrics.base import judged

# sacrebleu is imported where it is used: it takes longer to load than most commands take to run.


@judged("bleu")
def bleu() -> Any:
    """Corpus BLEU, cased, on plain text that sacreBLEU tokenises (13a): the one to cite."""
    from sacrebleu.metrics import BLEU

    return BLEU(force=True)  # no warning on tokenised text: `score` gives its own


@judged("bleu_lowercase")
def bleu_lowercase() -> Any:
    """BLEU after lower-casing both sides, so that a wrong capital costs nothing."""
    from sacrebleu.metrics import BLEU

    return BLEU(lowercase=True, force=True)


@judged("bleu_intl")
def bleu_intl() -> Any:
    """BLEU with sacreBLEU's intl tokens: every punctuation mark of any script stands alone."""
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize="intl", force=True)


@judged("bleu_unsmoothed")
def bleu_unsmoothed() -> Any:
    """BLEU without smoothing: 0 as soon as not one 4-gram is right, which few lines may cause."""
    from sacrebleu.metrics import BLEU

    return BLEU(smooth_method="none", force=True)


@judged("chrf")
def chrf() -> Any:
    """Corpus chrF2: how well 1- to 6-grams of characters agree, 0 to 100."""
    from sacrebleu.metrics import CHRF

    return CHRF()


@judged("chrf++")
def chrf_plus_plus() -> Any:
    """Corpus chrF2++: chrF2 that also counts single words and pairs of words, 0 to 100."""
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=2)


@judged("ter")
def ter() -> Any:
    """Corpus TER: edits (a moved phrase is one) for 100 reference words, so less is better."""
    from sacrebleu.metrics import TER

    return TER()

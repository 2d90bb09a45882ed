"""BLEU and chrF as sacreBLEU computes them: cased, detokenised, with a signature.

Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002.
Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015.
Post, "A Call for Clarity in Reporting BLEU Scores", WMT 2018, https://arxiv.org/abs/1804.08771.
"""

from collections.abc import Sequence

from heedful.metrics.base import Score, metrics

# sacrebleu is imported where it is used: it takes longer to load than most commands take to run.


@metrics.register("bleu")
def bleu(hypotheses: list[str], references: list[str], sources: Sequence[str] | None) -> Score:
    """Corpus BLEU: how many 1- to 4-grams of the output are in the reference, 0 to 100."""
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    value = metric.corpus_score(hypotheses, [references]).score
    return {"value": value, "signature": str(metric.get_signature())}


@metrics.register("chrf")
def chrf(hypotheses: list[str], references: list[str], sources: Sequence[str] | None) -> Score:
    """Corpus chrF2: how well 1- to 6-grams of characters agree, 0 to 100."""
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    value = metric.corpus_score(hypotheses, [references]).score
    return {"value": value, "signature": str(metric.get_signature())}

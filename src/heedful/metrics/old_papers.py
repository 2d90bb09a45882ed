"""BLEU as older papers report it, by name: on tokenised text, without smoothing.

They all ran Moses' multi-bleu.perl, which splits at spaces, and differ in what they gave it. Here
sacreBLEU counts (`tok:none|smooth:none` is multi-bleu.perl's arithmetic), and where the text has to
be tokenised first, `moses.py` does that, on output and reference alike. Signatures then say
`tok:heedful-moses-LANGUAGE`. They are not sacreBLEU's own: cite `bleu` beside them.
"""

from collections.abc import Callable
from typing import Any

from heedful.metrics.base import judged
from heedful.metrics.moses import plain_punctuation, split_compounds, tokenize


@judged("bleu_tokenized")
def bleu_tokenized() -> Any:
    """BLEU on the text as it is, split at spaces: for files that are tokenised already."""
    return _multi_bleu()


@judged("bleu_compound")
def bleu_compound() -> Any:
    """BLEU of "Attention Is All You Need" for German: cased, Moses tokens, rich-text split as
    rich ##AT##-##AT## text.

    As in Tensor2Tensor's get_ende_bleu.sh, save that the reference too is given raw.
    """
    return _multi_bleu("de-compounds", lambda text: split_compounds(_german(text)))


@judged("bleu_multi30k")
def bleu_multi30k() -> Any:
    """BLEU of papers on Multi30k, for German: lower case, plain quotes, Moses tokens."""
    return _multi30k("de")


@judged("bleu_multi30k_cs")
def bleu_multi30k_cs() -> Any:
    """BLEU of papers on Multi30k, for Czech: as for German, but quotes and stops stay in their
    order."""
    return _multi30k("cs")


@judged("bleu_multi30k_en")
def bleu_multi30k_en() -> Any:
    """BLEU of papers on Multi30k, for English: as for German, but apostrophes lean on what
    follows (it 's)."""
    return _multi30k("en")


@judged("bleu_multi30k_fr")
def bleu_multi30k_fr() -> Any:
    """BLEU of papers on Multi30k, for French: as for German, but apostrophes lean on what
    precedes (l' eau)."""
    return _multi30k("fr")


def _multi30k(language: str) -> Any:
    """Lower-case, make punctuation plain, tokenise: the recipe that the corpus comes with."""
    return _multi_bleu(
        f"{language}-plain",
        lambda text: tokenize(plain_punctuation(text, language), language),
        lowercase=True,
    )


def _german(text: str) -> str:
    for curly, plain in ("“", '"'), ("”", '"'), ("’", "'"), ("…", "..."):
        text = text.replace(curly, plain)
    return tokenize(text, "de")


def _multi_bleu(
    called: str = "", cut: Callable[[str], str] | None = None, lowercase: bool = False
) -> Any:
    from sacrebleu.metrics import BLEU

    judge = BLEU(tokenize="none", smooth_method="none", lowercase=lowercase, force=True)
    if cut is not None:
        judge.tokenizer = cut
        judge.tokenizer_signature = f"heedful-moses-{called}"
    return judge

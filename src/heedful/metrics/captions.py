"""BLEU of captions, as papers on captions give it: of one to four words, against all references.

Lines with the same source are captions of one picture. Its output is held against all of them, and
counted once. Where sources are not known every line is a picture of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

from heedful.metrics.base import Judged, Score, metrics, verdict


class Captioned(Judged):
    """A metric that a sacreBLEU metric computes, of pictures in place of lines."""

    def __call__(
        self, hypotheses: list[str], references: list[str], sources: Sequence[str] | None
    ) -> Score:
        outputs, sets = by_picture(hypotheses, references, sources)
        return verdict(self.judge(), outputs, sets)  # type: ignore[arg-type]  # None is for none


def captioned(name: str) -> Callable[[Callable[[], Any]], Captioned]:
    """Decorate a function that makes a sacreBLEU metric with the name that metric is found by."""
    return lambda judge: metrics.register(name)(Captioned(judge))


@captioned("caption_bleu1")
def caption_bleu1() -> Any:
    """BLEU of single words against all captions of a picture, lower-cased, 0 to 100."""
    return _bleu(1)


@captioned("caption_bleu2")
def caption_bleu2() -> Any:
    """BLEU of up to two words against all captions of a picture, lower-cased, 0 to 100."""
    return _bleu(2)


@captioned("caption_bleu3")
def caption_bleu3() -> Any:
    """BLEU of up to three words against all captions of a picture, lower-cased, 0 to 100."""
    return _bleu(3)


@captioned("caption_bleu4")
def caption_bleu4() -> Any:
    """BLEU of up to four words against all captions of a picture, lower-cased, 0 to 100."""
    return _bleu(4)


def _bleu(order: int) -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(lowercase=True, max_ngram_order=order, force=True)


def by_picture(
    hypotheses: list[str], references: list[str], sources: Sequence[str] | None
) -> tuple[list[str], list[list[str | None]]]:
    """The output of each picture, and sets of references as sacreBLEU takes them: the first of each
    picture, the second, and so on, None where one has no more."""
    names = list(map(str, range(len(references)))) if sources is None else list(sources)
    outputs: dict[str, str] = {}
    captions: dict[str, list[str]] = {}
    for name, hypothesis, reference in zip(names, hypotheses, references, strict=True):
        outputs.setdefault(name, hypothesis)
        captions.setdefault(name, []).append(reference)
    most = max(map(len, captions.values()))
    sets: list[list[str | None]] = [
        [of[number] if number < len(of) else None for of in captions.values()]
        for number in range(most)
    ]
    return list(outputs.values()), sets

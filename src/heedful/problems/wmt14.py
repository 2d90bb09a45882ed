"""WMT 2014: news, the task of "Attention Is All You Need"."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from heedful.data.archives import read_lines, segments
from heedful.data.sources import Download
from heedful.errors import UsageError, nearest
from heedful.problems.base import TRAIN, VALID
from heedful.problems.corpora import Corpus, Pairs, aligned, interleaved
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.subwords import Subwords


@dataclass(frozen=True)
class Part:
    """One of the corpora to learn from."""

    download: Download
    member: str  # the name of each side in the archive
    pairs: Mapping[str, float]  # about how many million, by the language beside English


def _at(url: str, sha256: str, size: int) -> Download:
    urls = (url, url.replace("https:", "http:"))  # the checksum makes both as safe
    return Download(f"wmt14/{url.rpartition('/')[2]}", urls, sha256, size)


PARTS = {
    "europarl": Part(
        _at(
            "https://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
            "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
            657_632_379,
        ),
        "training/europarl-v7.{pair}.{side}",
        {"de": 1.9, "fr": 2.0},
    ),
    "commoncrawl": Part(
        _at(
            "https://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
            "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
            918_311_367,
        ),
        "commoncrawl.{pair}.{side}",
        {"de": 2.4, "fr": 3.2},
    ),
    "news_commentary": Part(
        _at(
            "https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
            "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
            80_418_416,
        ),
        "training/news-commentary-v9.{pair}.{side}",
        {"de": 0.2, "fr": 0.2},
    ),
    "un": Part(
        _at(
            "https://www.statmt.org/wmt13/training-parallel-un.tgz",
            "29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47",
            2_365_634_246,
        ),
        "un/undoc.2000.{pair}.{side}",
        {"fr": 12.9},
    ),
    "giga": Part(
        _at(
            "https://www.statmt.org/wmt10/training-giga-fren.tar",
            "3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a",
            2_595_102_720,
        ),
        "giga-fren.release2.fixed.{side}.gz",
        {"fr": 22.5},
    ),
}
_DEV = _at(  # the newest of several archives of this name: it has the test sets of all years
    "https://data.statmt.org/wmt19/translation-task/dev.tgz",
    "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
    38_654_961,
)


@dataclass(frozen=True, kw_only=True)
class Wmt14(Corpus):
    """News translation of WMT 2014; valid is newstest2013, test is newstest2014 (all of it).

    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, https://arxiv.org/abs/1706.03762,
    section 5.1: 4.5 million pairs to German, 36 million to French. Text is taken as it is.
    """

    languages: ClassVar[tuple[str, ...]] = ("en", "de", "fr")
    hub: ClassVar[str | None] = "en"

    text: Text = field(default_factory=lambda: Subwords(size=32_000))
    corpora: tuple[str, ...] = ("europarl", "commoncrawl", "news_commentary")

    @property
    def other(self) -> str:
        """The language that is not English."""
        return self.target if self.source == "en" else self.source

    def downloads(self) -> tuple[Download, ...]:
        return (*(part.download for part in self._parts()), _DEV)

    def pairs(self, split: str, files: Mapping[str, Path]) -> Pairs:
        if split == TRAIN:
            parts = self._parts()
            return interleaved([(self._part(one, files), one.pairs[self.other]) for one in parts])
        path = files[_DEV.name]
        if split == VALID:
            name = "dev/newstest2013."
            return self.both(lambda side: read_lines(path, name + side), f"{name}* in {path}")
        name = f"dev/newstest2014-{self.other}en"
        return aligned(
            segments(read_lines(path, f"{name}-src.{self.source}.sgm")),
            segments(read_lines(path, f"{name}-ref.{self.target}.sgm")),
            f"newstest2014 in {path}",
        )

    def _part(self, part: Part, files: Mapping[str, Path]) -> Pairs:
        path = files[part.download.name]
        member = partial(part.member.format, pair=f"{self.other}-en")
        name = f"{member(side='*')} in {path}"
        return self.both(lambda side: read_lines(path, member(side=side)), name)

    def _parts(self) -> list[Part]:
        has = {name: part for name, part in PARTS.items() if self.other in part.pairs}
        for name in self.corpora:
            if name not in has:
                raise UsageError(
                    f"no corpus '{name}' between English and '{self.other}' in problem.corpora."
                    f"{nearest(name, has)} There are: {', '.join(has)}"
                )
        if not self.corpora:
            raise UsageError(f"problem.corpora names nothing to learn from: {', '.join(has)}")
        return [has[name] for name in self.corpora]


@problems.register("wmt14_en_de")
def wmt14_en_de() -> Wmt14:
    """English to German news: WMT 2014 as in the paper, 4.5 million pairs, newstest2014."""
    return Wmt14(source="en", target="de")


@problems.register("wmt14_en_fr")
def wmt14_en_fr() -> Wmt14:
    """English to French news: WMT 2014 as in the paper, 36 million pairs, newstest2014."""
    return Wmt14(source="en", target="fr", corpora=tuple(PARTS))

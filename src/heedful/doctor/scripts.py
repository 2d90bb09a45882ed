"""Which letters a side is written in, and the lines that are written in others.

A script is not a language: it tells Russian from English, and not French from English.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

from heedful.doctor.finding import SHOWN, Case, Finding, graded, percent
from heedful.doctor.texts import Texts
from heedful.problems.base import TRAIN

# Scripts that are mixed in one language go by one name.
_TOGETHER = {"CJK": "Han or Kana", "HIRAGANA": "Han or Kana", "KATAKANA": "Han or Kana"}
_WIDTHS = ("FULLWIDTH ", "HALFWIDTH ")
_NO_LETTERS = {code: None for code in range(128) if not chr(code).isalpha()}


@cache
def script(character: str) -> str:
    """The script of a letter, by the first word of its Unicode name; "" for what is no letter."""
    if not character.isalpha():
        return ""
    name = unicodedata.name(character, "")
    for width in _WIDTHS:
        name = name.removeprefix(width)
    word = name.partition(" ")[0].partition("-")[0]
    if word in ("MODIFIER", "MATHEMATICAL", "FEMININE", "MASCULINE", "MICRO", ""):
        return ""
    return _TOGETHER.get(word, word.capitalize())


def letters(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    if text.isascii():
        return Counter(Latin=len(text.translate(_NO_LETTERS)))
    found: Counter[str] = Counter()
    for character, times in Counter(text).items():
        found[script(character)] += times
    del found[""]
    return found


class Scripts:
    """Counts letters and lines by script, for every side of every split."""

    def __init__(self, features: tuple[str, ...]) -> None:
        self.features = features
        self.letters: dict[str, Counter[str]] = {feature: Counter() for feature in features}
        self.lines: dict[tuple[str, str], Counter[str]] = {}
        self.cases: dict[tuple[str, str, str], list[Case]] = {}

    def see(self, split: str, index: int, texts: Texts) -> None:
        for feature in self.features:
            found = letters(texts[feature])
            if split == TRAIN:
                self.letters[feature] += found
            most = max(found, key=lambda name: found[name], default="")
            most = most if found[most] else ""
            self.lines.setdefault((feature, split), Counter())[most] += 1
            cases = self.cases.setdefault((feature, split, most), [])
            if len(cases) < SHOWN:
                cases.append(Case(split, index + 1, texts, most or "no letters"))

    def findings(self) -> Iterator[Finding]:
        for feature in self.features:
            usual = max(self.letters[feature], key=self.letters[feature].__getitem__, default="")
            if usual:
                yield self._side(feature, usual)

    def _side(self, feature: str, usual: str) -> Finding:
        count = self.letters[feature]
        total = max(1, count.total())
        mix = ", ".join(f"{name} {percent(n / total)}" for name, n in count.most_common(4) if n)
        others: Counter[str] = Counter()
        cases: list[Case] = []
        share = 0.0
        for (side, split), lines in self.lines.items():
            if side != feature:
                continue
            odd = {name: n for name, n in lines.items() if name not in ("", usual)}
            others += Counter(odd)
            share = max(share, sum(odd.values()) / lines.total())
            cases += [case for name in odd for case in self.cases[feature, split, name]]
        lines_of = ", ".join(f"{name} {n:,}" for name, n in others.most_common(4))
        return Finding(
            graded(share, warning=0.005),
            f"script_{feature}",
            f"{feature} are written in {usual} (letters: {mix})"
            + (f"; lines in other letters: {lines_of}" if others else ""),
            others.total(),
            "Look whether these lines are in the wrong language, and remove them if so"
            if others
            else "",
            tuple(cases[:SHOWN]),
        )


class Untranslated:
    """Pairs whose two sides are the same words."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.same: Counter[str] = Counter()
        self.cases: list[Case] = []

    def see(self, split: str, index: int, texts: Texts) -> None:
        self.seen[split] += 1
        source = texts["inputs"].strip()
        if source == texts["targets"].strip() and letters(source).total():
            self.same[split] += 1
            if len(self.cases) < SHOWN:
                self.cases.append(Case(split, index + 1, texts))

    def findings(self) -> Iterator[Finding]:
        share = max((self.same[split] / n for split, n in self.seen.items()), default=0.0)
        count = self.same.total()
        yield Finding(
            graded(share, warning=0.01, problem=0.1),
            "untranslated",
            f"pairs with the same text on both sides: {count:,} "
            f"({percent(count / max(1, self.seen.total()))})",
            count,
            "Such a pair teaches to copy. Names may stay; remove sentences" if count else "",
            tuple(self.cases),
        )

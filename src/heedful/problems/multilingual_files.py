"""Your own files, several pairs of them, into several languages: one model by tags."""

from collections.abc import Mapping
from dataclasses import dataclass

from heedful.config import vary
from heedful.data.mixture import Member
from heedful.errors import UsageError
from heedful.problems.base import Feature
from heedful.problems.multilingual import Mixed
from heedful.problems.own_files import OwnFiles
from heedful.registry import problems
from heedful.text.tagged import Tagged, check_tag


@problems.register("multilingual_files")
@dataclass(frozen=True, kw_only=True)
class MultilingualFiles(Mixed):
    """Translate between your own files of text, several pairs of them, into several languages.

    `to` has the language of each pair's target: first of those of `source` and `target`, then of
    `pairs`. Pairs into the same language are one member. Files for valid and test, where given, are
    one pair a language, in the order in which `to` first names them; without, lines are held out of
    each member as `own_files` does.
    """

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    valid_source: tuple[str, ...] = ()
    valid_target: tuple[str, ...] = ()
    valid_pairs: tuple[str, ...] = ()
    test_source: tuple[str, ...] = ()
    test_target: tuple[str, ...] = ()
    test_pairs: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # of files of pairs: the source's and the target's
    shared: bool = True  # one vocabulary for both sides
    held_out: float = 0.02

    def __post_init__(self) -> None:
        for tag in self.to:
            check_tag(tag)

    @property
    def features(self) -> dict[str, Feature]:
        if self.shared:
            return super().features
        tagged = Tagged(self.text, self.tags)
        return {"inputs": Feature(tagged, "source"), "targets": Feature(self.text, "target")}

    def parts(self) -> dict[str, Member]:
        tags = tuple(dict.fromkeys(self.to))
        given: dict[str, dict[str, tuple[str, ...]]] = {tag: {} for tag in tags}
        for prefix, order in (("", self.to), ("valid_", tags), ("test_", tags)):
            count = self._check_counts(prefix, order)
            for side, first in (("source", 0), ("target", 0), ("pairs", count)):
                name = prefix + side
                for tag, path in zip(order[first:], getattr(self, name), strict=False):
                    given[tag][name] = (*given[tag].get(name, ()), path)
        return {tag: Member("own_files", self._own(given[tag]), tag) for tag in tags}

    def check(self) -> None:
        """Begin to read every file: what is wrong with its name or its first line is said now."""
        for member in self._files():
            member.check()
        if self.fields and not (self.pairs or self.valid_pairs or self.test_pairs):
            raise UsageError("--fields chooses columns or keys of --pairs FILE, which is missing")

    def lines(self, most: int | None = None) -> int:
        """How many pairs there are to learn from, held-out ones among them; or `most`, if more."""
        count = sum(member.lines(most) for member in self._files())
        return count if most is None else min(count, most)

    def _files(self) -> list[OwnFiles]:
        made = [member.problem for member in self.parts().values()]
        if not made:
            raise UsageError(self.nothing())
        return [one for one in made if isinstance(one, OwnFiles)]

    def _own(self, files: Mapping[str, tuple[str, ...]]) -> OwnFiles:
        of_pairs = any(name.endswith("pairs") for name in files)
        made = OwnFiles(text=self.text, shared=self.shared, held_out=self.held_out)
        return vary(made, {**files, "fields": self.fields if of_pairs else ()})

    def _check_counts(self, prefix: str, order: tuple[str, ...]) -> int:
        """How many files of sources a split has; an error if not all are known where they go."""
        counts = {side: len(getattr(self, prefix + side)) for side in ("source", "target", "pairs")}
        if counts["source"] != counts["target"]:
            raise UsageError(
                f"problem.{prefix}source names {counts['source']} files and problem.{prefix}target "
                f"{counts['target']}: they must come in pairs"
            )
        found = counts["source"] + counts["pairs"]
        if not prefix and found != len(order):
            raise UsageError(
                f"pairs of files to learn from: {found}; languages (--to): {len(order)}. There "
                "must be one for each pair: first for those of --source, then for those of --pairs"
            )
        if prefix and found not in (0, len(order)):
            raise UsageError(
                f"pairs of files for {prefix[:-1]}: {found}; languages: {len(order)}. Give one "
                f"pair for each, in the order {', '.join(order)}, or none"
            )
        return counts["source"]

    def nothing(self) -> str:
        return (
            "multilingual_files needs files to learn from: --source a.en --target a.de --to de "
            "--source b.en --target b.fr --to fr, or --pairs"
        )

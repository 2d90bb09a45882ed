"""How much there is, and how much of it is left out: empty pairs, and those that are too long."""

from collections.abc import Iterator

import numpy as np

from heedful.data.batching import Batching, Packed
from heedful.doctor.finding import SHOWN, Finding, Level, graded, percent
from heedful.doctor.texts import Reader
from heedful.presets.base import Preset
from heedful.problems.base import TRAIN, VALID

FEW_TO_LEARN = 1_000  # fewer training examples than this teach little
FEW_TO_JUDGE = 100  # a score over fewer examples is mostly chance


class Sizes:
    """Looks at the prepared splits, all of every one."""

    def __init__(self, reader: Reader, preset: Preset) -> None:
        self.reader, self.preset = reader, preset
        self.splits = reader.prepared.info["splits"]

    def findings(self) -> Iterator[Finding]:
        yield self._counts()
        yield from self._empty()
        yield self._dropped()
        if "inputs" in self.reader.prepared.features:
            yield from self._undecodable()

    def _counts(self) -> Finding:
        counts = {split: counts["examples"] for split, counts in self.splits.items()}
        said = ", ".join(f"{split} {n:,}" for split, n in counts.items())
        held = {split: n for split, n in counts.items() if split != TRAIN and n < FEW_TO_JUDGE}
        advice = ""
        if counts[TRAIN] < FEW_TO_LEARN:
            advice = f"Fewer than {FEW_TO_LEARN:,} examples teach little: find more"
        elif held:
            advice = (
                f"A score over fewer than {FEW_TO_JUDGE} examples is mostly chance: "
                f"{', '.join(held)}"
            )
        level: Level = "warning" if not counts.get(VALID, 1) else "note" if advice else "ok"
        title = f"examples by split: {said}"
        return Finding(level, "examples", title, sum(counts.values()), advice)

    def _empty(self) -> Iterator[Finding]:
        for split, counts in self.splits.items():
            empty = counts["empty"]
            if not empty and split != TRAIN:
                continue
            share = empty / max(1, empty + counts["examples"])
            yield Finding(
                graded(share, warning=0.01, problem=0.1),
                f"empty_{split}",
                f"{split} pairs with an empty side, left out: {empty:,} ({percent(share)})",
                empty,
                "Look whether lines have slipped: one side may be a line short" if empty else "",
                tuple(self.reader.empty(split, SHOWN)) if empty else (),
            )

    def _dropped(self) -> Finding:
        batch = self.preset.batch
        shards = self.reader.prepared.split(TRAIN)
        larger = np.maximum.reduce([shards.lengths[name] for name in shards.features])
        over = np.flatnonzero(larger > batch.limit)
        share = len(over) / max(1, len(larger))
        longest = int(larger.max(initial=0))
        worst = over[np.argsort(-larger[over], kind="stable")[:SHOWN]]
        return Finding(
            graded(share, warning=0.01, problem=0.1),
            "dropped",
            f"training examples over {batch.limit} tokens, not trained on: {len(over):,} "
            f"({percent(share)}); the longest has {longest:,}",
            len(over),
            f"To keep them, set {_limits(batch, longest)}" if len(over) else "",
            tuple(
                self.reader.case(shards, int(i), f"{int(larger[i]):,} tokens, the end counted")
                for i in worst
            ),
        )

    def _undecodable(self) -> Iterator[Finding]:
        limit = self.preset.decode.longest_input
        for split, counts in self.splits.items():
            if split == TRAIN or not counts["examples"]:
                continue
            shards = self.reader.prepared.split(split)
            over = np.flatnonzero(shards.lengths["inputs"] - 1 > limit)
            if len(over):
                share, longest = len(over) / len(shards), int(shards.lengths["inputs"].max()) - 1
                yield Finding(
                    graded(share, warning=0.001, problem=0.1),
                    f"undecodable_{split}",
                    f"{split} inputs over decode.longest_input={limit}, which give no output: "
                    f"{len(over):,} ({percent(share)})",
                    len(over),
                    f"Split the lines, or set decode.longest_input={longest}",
                    tuple(self.reader.case(shards, int(i)) for i in over[:SHOWN]),
                )


def _limits(batch: Batching, longest: int) -> str:
    """What must be raised for an example of this length to be trained on."""
    needs = [f"batch.longest={longest}"] if batch.longest < longest else []
    if isinstance(batch, Packed) and batch.row < longest:
        needs.append(f"batch.row={longest}")
    if batch.tokens < longest:
        needs.append(f"batch.tokens={longest}")
    return ", ".join(needs) + ". Or split the lines into sentences"

"""Pairs whose one side is far longer than the other side would have it."""

import heapq
import math
from collections.abc import Iterator

import numpy as np

from heedful.doctor.finding import SHOWN, Case, Finding, graded, percent
from heedful.doctor.texts import Texts

SMOOTHED = 10  # characters added to both sides: of short texts, any ratio may be right
FAR = 3.0  # times the usual ratio, or its inverse
WIDTH = 0.05  # of a bin, in powers of two
BINS = 800

Ranked = tuple[float, int, Case]  # the number is for telling equal ones apart


class Ratios:
    """Characters of the target by characters of the source, against the median of all."""

    def __init__(self) -> None:
        self.counts = np.zeros(BINS, np.int64)
        self.seen = 0
        self.extremes: tuple[list[Ranked], list[Ranked]] = ([], [])

    def see(self, split: str, index: int, texts: Texts) -> None:
        source, target = len(texts["inputs"]), len(texts["targets"])
        ratio = math.log2((target + SMOOTHED) / (source + SMOOTHED))
        self.counts[min(BINS - 1, max(0, math.floor(ratio / WIDTH) + BINS // 2))] += 1
        self.seen += 1
        for heap, rank in zip(self.extremes, (ratio, -ratio), strict=True):
            if len(heap) < SHOWN or rank > heap[0][0]:
                note = f"{source:,} and {target:,} characters"
                heapq.heappush(heap, (rank, -self.seen, Case(split, index + 1, texts, note)))
            if len(heap) > SHOWN:
                heapq.heappop(heap)

    def findings(self) -> Iterator[Finding]:
        total = int(self.counts.sum())
        if not total:
            return
        middle = int(np.searchsorted(np.cumsum(self.counts), total / 2))
        usual = (middle - BINS // 2) * WIDTH
        reach = math.log2(FAR)
        bins = round(reach / WIDTH)
        inside = int(self.counts[max(0, middle - bins) : middle + bins + 1].sum())
        count = total - inside
        share = count / total
        far = {
            number: (-abs(sign * rank - usual), case)
            for heap, sign in zip(self.extremes, (1, -1), strict=True)
            for rank, number, case in heap
            if abs(sign * rank - usual) > reach
        }
        cases = [case for _, case in sorted(far.values(), key=lambda item: item[0])]
        yield Finding(
            graded(share, warning=0.01, problem=0.1),
            "length_ratio",
            f"pairs whose length ratio is over {FAR:g} times off the usual one "
            f"({2**usual:.2f} target characters a source character): {count:,} ({percent(share)})",
            count,
            "Look whether they are translations of each other at all" if count else "",
            tuple(cases[:SHOWN]),
        )

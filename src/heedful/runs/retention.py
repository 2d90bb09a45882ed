"""Which checkpoints to keep: the last few, the best few, and no more than the disk may hold."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Kept:
    """A checkpoint as seen by the rule: its step, its bytes, how good it is (more is better)."""

    step: int
    size: int
    merit: tuple[float, ...] | None = None  # None where it was not evaluated


def doomed(kept: list[Kept], keep_last: int, keep_best: int, cap: int) -> list[int]:
    """The steps to delete, oldest first. The newest always stays; 0 for `cap` is no cap.

    Under the cap the oldest go first, the best one only after all others but the newest.
    """
    by_step = sorted(kept, key=lambda k: k.step)
    if not by_step:
        return []
    newest = by_step[-1]
    judged = [(k.merit, -k.step, k) for k in by_step if k.merit is not None]
    best = [k for *_, k in sorted(judged, key=lambda j: j[:2], reverse=True)][:keep_best]
    stay = {k.step for k in by_step[-max(keep_last, 1) :]} | {k.step for k in best}
    sizes: Mapping[int, int] = {k.step: k.size for k in by_step}
    if cap > 0:
        dearest = {newest.step, *(k.step for k in best[:1])}
        order = [k.step for k in by_step if k.step not in dearest]  # what goes first, first
        order += [k.step for k in best[:1] if k.step != newest.step]
        for step in order:
            if sum(sizes[s] for s in stay) <= cap:
                break
            stay.discard(step)
    return [k.step for k in by_step if k.step not in stay]

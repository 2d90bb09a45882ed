"""Memory: how much a step takes at its peak, how much there is, and the budget that fits."""

import contextlib
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from heedful.nn.heap import give_back

SHARE = 0.9  # of what there is, that a run may take
TRIES = 5  # steps that a search for the largest budget may take

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_MEMINFO = Path("/proc/meminfo")
_LIMIT = Path("/sys/fs/cgroup/memory.max")
_TAKEN = Path("/sys/fs/cgroup/memory.current")


@dataclass(frozen=True)
class Budget:
    """The tokens a batch may have, and how that was found."""

    tokens: int
    how: str
    measured: bool  # a step of this size was really taken


class Peak:
    """The most memory that was held while this was open, in bytes: `taken` is above `before`.

    On a CPU that is seen from outside, and what an earlier step freed may be used again unseen. So
    what is kept for the backward pass is added up too, and counts where it is more.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.before = self.peak = 0
        self._saved: dict[int, int] = {}
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._keep, lambda tensor: tensor)

    def _keep(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        self._saved[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    def __enter__(self) -> "Peak":
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
            torch.cuda.reset_peak_memory_stats(self.device)
            self.before = torch.cuda.memory_allocated(self.device)
        else:
            give_back()
            _forget_peak()
            self.before = _status("VmRSS") or _process_peak()
            self._hooks.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
            self.peak = torch.cuda.max_memory_allocated(self.device)
        else:
            self._hooks.__exit__()
            self.peak = _status("VmHWM") or _process_peak()

    @property
    def taken(self) -> int:
        return max(0, self.peak - self.before, sum(self._saved.values()))


def room(device: torch.device) -> int:
    """The memory that a run on this device may hold, in bytes: what is free, and what we hold."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free) + torch.cuda.memory_reserved(device)
    free = _free()
    return free + _status("VmRSS")


def estimated(tokens: int, peak: Peak, there: int) -> Budget:
    """The budget that fits by one measured step: what it took grows as the tokens do."""
    each = max(1.0, peak.taken / tokens)
    limit = SHARE * there
    fits = max(tokens if peak.peak < limit else 0, int((limit - peak.before) / each))
    how = (
        f"estimated: a batch of {tokens:,} took {peak.taken / 1e6:,.0f} MB beside "
        f"{peak.before / 1e6:,.0f} MB that stay; {SHARE:.0%} of {there / 1e9:,.1f} GB may be used"
    )
    return Budget(rounded(fits), how, measured=False)


def largest(attempt: Callable[[int], int | None], tokens: int, there: int) -> Budget | None:
    """The largest budget that a step was really taken with; None if not even small ones fit.

    `attempt` takes a step with so many tokens and gives its peak in bytes, None if memory ran out.
    Two steps give a line, the line a guess, and the guess is tried.
    """
    peaks: dict[int, int] = {}
    failed: int | None = None
    trial = tokens
    for _ in range(TRIES):
        peak = attempt(trial)
        if peak is not None and peak <= SHARE * there:
            peaks[trial] = peak
        else:
            failed = trial if failed is None else min(failed, trial)
        trial = _next(peaks, failed, trial, there)
        if trial < 1 or trial in peaks or (failed is not None and trial >= failed):
            break
    if not peaks:
        return None
    best = max(peaks)
    how = (
        f"measured: a step with {best:,} took {peaks[best] / 1e9:,.1f} of {there / 1e9:,.1f} GB"
        + (f", one with {failed:,} did not fit in {SHARE:.0%} of it" if failed else "")
    )
    return Budget(best, how, measured=True)


def _next(peaks: dict[int, int], failed: int | None, last: int, there: int) -> int:
    if not peaks:
        return last // 2
    best = max(peaks)
    if len(peaks) == 1:
        return 2 * best if failed is None else (best + failed) // 2
    few, many = sorted(peaks)[-2:]
    each = max(1.0, (peaks[many] - peaks[few]) / (many - few))
    guess = rounded(int(many + 0.95 * (SHARE * there - peaks[many]) / each))
    if failed is not None and guess >= failed:
        guess = (best + failed) // 2
    return guess


def ran_out(error: BaseException) -> bool:
    """Whether this is how torch or Python say that there is no memory left."""
    known = isinstance(error, torch.OutOfMemoryError | MemoryError)
    return known or "allocate memory" in str(error)


def rounded(tokens: int) -> int:
    """A number of tokens that one would type: two digits, and zeros, rounded down."""
    unit = 10 ** max(0, len(str(tokens)) - 2)
    return tokens // unit * unit


def _status(field: str) -> int:
    """A number of bytes from this process's own status; 0 where there is none."""
    return _kilobytes(_STATUS, field)


def _kilobytes(path: Path, field: str) -> int:
    try:
        for line in path.read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _forget_peak() -> None:
    """Let the system count this process's peak anew, where it can."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")


def _process_peak() -> int:
    """The peak since the process began."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _free() -> int:
    """Memory that nobody uses, by the machine and by the limit of the group this process is in."""
    free = _kilobytes(_MEMINFO, "MemAvailable")
    if not free:
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    try:
        limit, taken = int(_LIMIT.read_text()), int(_TAKEN.read_text())
    except (OSError, ValueError):  # no group, or one without a limit
        return free
    return min(free, max(0, limit - taken))

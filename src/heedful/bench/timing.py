"""How long work takes and how much memory, on a CPU or a GPU: medians over repeats, and spread."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.training.capture import Recorded

Ready = tuple[Callable[[], Tensor], Sequence[Tensor]]  # a forward pass, and its weights

SAMPLE = 0.02  # seconds that one measurement of a short piece of work lasts at least
MOST_CALLS = 1_000


@dataclass(frozen=True)
class Middle:
    """The median of several measurements, and how far apart their middle half lies."""

    value: float
    spread: float  # the interquartile range

    @classmethod
    def of(cls, measured: Sequence[float]) -> "Middle":
        if not measured:
            raise UsageError("nothing was measured: repeats must be 1 or more")
        if len(measured) == 1:
            return cls(measured[0], 0.0)
        low, middle, high = statistics.quantiles(measured, n=4, method="inclusive")
        return cls(middle, high - low)

    def times(self, factor: float) -> "Middle":
        """The same in another unit."""
        return Middle(self.value * factor, self.spread * factor)


def rates(amount: float, seconds: Sequence[float]) -> Middle:
    """So much a second, when the same amount took these seconds."""
    return Middle.of([amount / one for one in seconds])


def settle(device: torch.device) -> None:
    """Wait until a GPU has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def by_clock(
    work: Callable[[], object], device: torch.device, repeats: int, warmup: int = 1
) -> list[float]:
    """Seconds by the clock on the wall, one a repeat, all of the device's work waited for.

    For work that takes longer than starting it: steps, searches.
    """
    for _ in range(warmup):
        work()
    found = []
    for _ in range(repeats):
        settle(device)
        began = time.perf_counter()
        work()
        settle(device)
        found.append(time.perf_counter() - began)
    return found


def by_device(
    work: Callable[[], object], device: torch.device, repeats: int, warmup: int = 3
) -> list[float]:
    """Seconds of one call, one a repeat, by the device's own clock: for short work, such as a
    kernel. Each repeat makes as many calls as last `SAMPLE` seconds.

    On a GPU it is recorded first, as steps of training are: else Python would be timed, which takes
    longer to start short kernels than they last.
    """
    for _ in range(warmup):
        work()
    once = max(_lasting(work, 1, device), 1e-9)
    if device.type == "cuda" and once < SAMPLE:
        work = _recorded(work, device)
        once = max(_lasting(work, 1, device), 1e-9)
    calls = min(MOST_CALLS, max(1, math.ceil(SAMPLE / once)))
    return [_lasting(work, calls, device) for _ in range(repeats)]


def _recorded(work: Callable[[], object], device: torch.device) -> Callable[[], object]:
    """The work to be replayed; as it is where it cannot be recorded."""
    settle(device)
    torch.cuda.empty_cache()  # a recording has memory of its own
    try:
        return Recorded(work)
    except RuntimeError:  # something in it waits for the device
        settle(device)
        return work


def _lasting(work: Callable[[], object], calls: int, device: torch.device) -> float:
    settle(device)
    if device.type != "cuda":
        began = time.perf_counter()
        for _ in range(calls):
            work()
        return (time.perf_counter() - began) / calls
    stream = torch.cuda.current_stream(device)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record(stream)
    for _ in range(calls):
        work()
    end.record(stream)
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1_000 / calls


class Peak:
    """The most memory that a GPU held since this was made, beyond what it held then.

    What a CUDA graph uses is only seen while it is recorded, so make this before the work begins.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        free(device)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
            self.before = torch.cuda.memory_allocated(device)
            self.reserved_before = torch.cuda.memory_reserved(device)

    def restart(self) -> None:
        """Forget the most so far; what was held before stays the same."""
        if self.device.type == "cuda":
            settle(self.device)
            torch.cuda.reset_peak_memory_stats(self.device)

    def gigabytes(self) -> float | None:
        """None on a CPU, which does not count."""
        if self.device.type != "cuda":
            return None
        settle(self.device)
        return (torch.cuda.max_memory_allocated(self.device) - self.before) / 1e9

    def reserved(self) -> float | None:
        """As `gigabytes`, what the allocator held on to included."""
        if self.device.type != "cuda":
            return None
        settle(self.device)
        return (torch.cuda.max_memory_reserved(self.device) - self.reserved_before) / 1e9


def free(device: torch.device) -> None:
    """Let go of all that nobody uses any more on a GPU, compiled code included."""
    if device.type == "cuda":
        torch.compiler.reset()
        gc.collect()
        settle(device)
        torch.cuda.empty_cache()


def kept_gigabytes(make: Callable[[], Ready], device: torch.device) -> float:
    """What a forward pass holds when it is done: inputs, masks, and what it keeps for the backward
    pass; weights are not counted.

    `make` builds all of it. On a GPU that is what is allocated afterwards; on a CPU, which does not
    count, what the backward pass is going to read.
    """
    if device.type == "cuda":
        settle(device)
        before = torch.cuda.memory_allocated(device)
        forward, weights = make()
        result = forward()
        settle(device)
        held = torch.cuda.memory_allocated(device) - before - sum(w.nbytes for w in weights)
        del result
        return held / 1e9
    forward, weights = make()
    there = {tensor.untyped_storage().data_ptr() for tensor in weights}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in there:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = forward()  # held until all is counted, so that no storage is used twice
    total = sum(kept.values())
    del result
    return total / 1e9

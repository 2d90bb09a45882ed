"""Memory measured, and the largest budget found, with steps that are only made up."""

import pytest
import torch

from heedful.doctor import memory
from heedful.doctor.memory import Peak, estimated, largest, room, rounded
from heedful.nn.heap import keep_freed

CPU = torch.device("cpu")
GB = 10**9


class Machine:
    """Each step takes `fixed` and then so much a token; over `there` it fails."""

    def __init__(self, there: int, fixed: int, each: int) -> None:
        self.there, self.fixed, self.each = there, fixed, each
        self.tried: list[int] = []

    def __call__(self, tokens: int) -> int | None:
        self.tried.append(tokens)
        peak = self.fixed + self.each * tokens
        return peak if peak <= self.there else None


def test_the_largest_budget_is_one_that_was_taken_and_nearly_fills_the_memory() -> None:
    machine = Machine(100 * GB, 10 * GB, 10**6)  # 80,000 tokens fill nine tenths
    budget = largest(machine, 4_000, machine.there)
    assert budget is not None and budget.measured
    assert budget.tokens in machine.tried and 60_000 <= budget.tokens <= 80_000
    assert machine.tried[:2] == [4_000, 8_000] and len(machine.tried) <= memory.TRIES
    assert budget.how.startswith(f"measured: a step with {budget.tokens:,} took")


def test_a_budget_that_does_not_fit_is_halved_until_one_does() -> None:
    machine = Machine(10 * GB, GB, 10**6)  # 8,000 tokens
    budget = largest(machine, 20_000, machine.there)
    assert budget is not None and 5_000 <= budget.tokens <= 8_000
    assert "did not fit" in budget.how


def test_the_guess_never_goes_back_to_what_failed() -> None:
    machine = Machine(10 * GB, GB, 10**6)
    budget = largest(machine, 6_000, machine.there)
    assert budget is not None and 6_000 <= budget.tokens <= 8_000
    assert len(set(machine.tried)) == len(machine.tried)


def test_where_nothing_fits_there_is_no_budget() -> None:
    machine = Machine(GB, 2 * GB, 1)
    assert largest(machine, 1_000, machine.there) is None
    assert largest(machine, 1, machine.there) is None


def test_a_memory_that_grows_faster_than_a_line_is_not_overrun() -> None:
    budget = largest(lambda n: n * n if n * n < 10**10 else None, 10_000, 10**10)
    assert budget is not None and budget.tokens**2 < 10**10


def measured(before: int, peak: int) -> Peak:
    made = Peak(CPU)
    made.before, made.peak = before, peak
    return made


def test_a_budget_is_estimated_from_one_step() -> None:
    budget = estimated(1_000, measured(GB, 2 * GB), 10 * GB)
    assert budget.tokens == 8_000 and not budget.measured
    assert "a batch of 1,000 took 1,000 MB beside 1,000 MB" in budget.how
    assert estimated(1_000, measured(GB, 20 * GB), 10 * GB).tokens < 1_000
    assert estimated(1_000, measured(GB, GB), 10 * GB).tokens >= 1_000  # nothing was seen


def test_the_peak_of_a_large_tensor_is_seen() -> None:
    keep_freed()  # as after a training in this process
    for _ in range(5):
        torch.ones(40_000_000)
    with Peak(CPU) as peak:
        torch.ones(40_000_000)  # 160 MB, and gone again
    assert 0.8 * 160e6 < peak.taken < 3 * 160e6
    with Peak(CPU) as peak:
        pass
    assert peak.taken < 80e6
    assert room(CPU) > peak.before


def test_what_is_kept_for_the_backward_pass_is_counted_though_nothing_new_is_asked_for() -> None:
    weight = torch.ones(1_000, requires_grad=True)
    with Peak(CPU) as peak:
        y = (weight * 2).exp()
        y.sum().backward()
    peak.peak = peak.before  # as if it all went where something was before
    assert peak.taken >= 4_000
    torch.testing.assert_close(weight.grad, 2 * y.detach())


def test_where_the_system_does_not_tell_other_ways_are_taken(tmp_path, monkeypatch) -> None:
    for name in ("_STATUS", "_MEMINFO", "_CLEAR"):
        monkeypatch.setattr(memory, name, tmp_path / "missing" / "file")
    with Peak(CPU) as peak:
        pass
    assert peak.before > 10**7 and peak.taken == 0
    without = room(CPU)
    assert without > 0
    (tmp_path / "max").write_text("max\n")
    (tmp_path / "current").write_text("1000\n")
    monkeypatch.setattr(memory, "_LIMIT", tmp_path / "max")
    monkeypatch.setattr(memory, "_TAKEN", tmp_path / "current")
    assert room(CPU) == without  # no limit
    (tmp_path / "max").write_text("5000\n")
    assert room(CPU) == 4_000


@pytest.mark.parametrize(("tokens", "said"), [(7, 7), (99, 99), (123, 120), (98_765, 98_000)])
def test_budgets_are_round(tokens: int, said: int) -> None:
    assert rounded(tokens) == said


def test_a_gpu_is_asked_by_its_own_counters(monkeypatch) -> None:
    said = {"memory_allocated": 100, "max_memory_allocated": 700, "memory_reserved": 50}
    for name, value in said.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (900, 1_000))
    forgotten = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", forgotten.append)
    gpu = torch.device("cuda", 0)
    with Peak(gpu) as peak:
        assert forgotten == [gpu]
    assert (peak.before, peak.peak, peak.taken) == (100, 700, 600)
    assert room(gpu) == 950


def test_a_lack_of_memory_is_known_by_its_words() -> None:
    assert memory.ran_out(torch.OutOfMemoryError()) and memory.ran_out(MemoryError())
    words = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
    assert memory.ran_out(RuntimeError(words)) and not memory.ran_out(RuntimeError("shape"))

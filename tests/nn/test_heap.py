"""What is freed while computing on a CPU stays with the process."""

import ctypes
import subprocess
import sys

import pytest

from heedful.nn import heap

# New pages that the system has to find while blocks of 64 MB come and go.
TOUCHED = """
import resource, sys
import torch
from heedful.nn.heap import keep_freed
if sys.argv[1] == "kept":
    assert keep_freed()
for _ in range(20):
    torch.ones(2**24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs glibc")
def test_what_is_freed_is_used_again() -> None:
    plain, kept = (
        int(subprocess.check_output([sys.executable, "-c", TOUCHED, how], text=True))
        for how in ("plain", "kept")
    )
    assert plain > 20 * 16 and kept < plain / 10


def test_another_malloc_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap.ctypes, "CDLL", lambda name: object())
    assert not heap.keep_freed()

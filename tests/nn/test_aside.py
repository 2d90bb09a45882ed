"""Work that is done aside leaves no threads behind."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from heedful.nn.aside import aside

COUNTS = """
import os, time, torch
from heedful.nn.aside import aside
torch.set_num_threads(2)
threads = lambda: len(os.listdir("/proc/self/task"))
x = torch.randn(700, 700)
before, until = threads(), time.monotonic() + 20
aside(lambda: x @ x)
while threads() > before and time.monotonic() < until:  # they end a moment later
    time.sleep(0.01)
between = threads()
x @ x
time.sleep(0.5)
print(between - before, threads() - between)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux does")
def test_threads_end_with_the_work() -> None:
    done = subprocess.run([sys.executable, "-c", COUNTS], capture_output=True, text=True)
    assert done.stdout.split() == ["0", "1"], done.stderr  # by itself the product keeps one


def test_what_is_found_or_raised_comes_back() -> None:
    assert aside(threading.current_thread) is not threading.current_thread()

    def fail() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        aside(fail)

import os
import subprocess
import sys
from pathlib import Path

import pytest

import heedful.errors


@pytest.fixture
def torchrun():
    """Run a script in two processes on this machine."""

    def launch(script):
        source = str(Path(heedful.errors.__file__).parents[1])
        return subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
             str(script)],
            env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return launch

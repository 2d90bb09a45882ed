"""Recording what is done on a GPU, to be replayed."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def recording(graph: torch.cuda.CUDAGraph, pool: Any = None) -> Iterator[None]:
    """Into `graph`. Meanwhile Python looks for no garbage: an old recording that it found and threw
    away would spoil this one."""
    looks = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(graph, pool=pool):
            yield
    finally:
        if looks:
            gc.enable()

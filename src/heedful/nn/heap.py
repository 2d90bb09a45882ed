"""The heap of a process that computes on a CPU: what a step frees is kept for the next."""

import ctypes
from collections.abc import Callable

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
LARGEST = (2**31 - 1, 2**25)  # bytes of a block that is kept; older ones take no more than the last


def keep_freed() -> bool:
    """Have malloc keep what is freed; whether it does.

    Tensors of a step are as large as those of the next. By default what is freed goes back to the
    system and comes again as new pages, and touching those takes longer than filling them.
    """
    option = _of_malloc("mallopt")
    if option is None:
        return False
    return bool(
        any(option(MMAP_THRESHOLD, most) for most in LARGEST) and option(TRIM_THRESHOLD, -1)
    )


def give_back() -> None:
    """Give the system what is freed by now, so that what is asked for next can be seen from
    outside."""
    trim = _of_malloc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_malloc(name: str) -> Callable[..., int] | None:
    """A function of glibc's malloc, where it is that."""
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None
    return found

"""The heap of a process that trains on a CPU: what a step frees is kept for the next."""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
LARGEST = (2**31 - 1, 2**25)  # bytes of a block that is kept; older ones take no more than the last


def keep_freed() -> bool:
    """Have malloc keep what is freed; whether it does.

    Tensors of a step are as large as those of the next. By default what is freed goes back to the
    system and comes again as new pages, and touching those takes longer than filling them.
    """
    try:
        option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # not glibc's
        return False
    return bool(
        any(option(MMAP_THRESHOLD, most) for most in LARGEST) and option(TRIM_THRESHOLD, -1)
    )

"""Work that leaves no threads behind.

PyTorch keeps threads for each thread that computes in parallel on a CPU. Where two have some, there
are more threads than cores, and OpenMP no longer has them wait by spinning: each of a step's many
short pieces of work then waits for a thread to be woken, and a search takes much longer.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def aside(work: Callable[[], Found]) -> Found:
    """What `work` gives or raises, done in a thread that ends with it: its threads do, too."""
    found: list[Found] = []
    raised: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as error:  # handed to whoever asked
            raised.append(error)

    thread = threading.Thread(target=do, name="aside")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]

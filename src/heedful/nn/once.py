"""What is found out once and then known."""

from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def once(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """The function, called once for each set of arguments, and never traced by `torch.compile`.

    `functools.cache` alone does not do: a compiler looks through it, and where the function does
    what it cannot trace, as looking for a package, the graph breaks in two.
    """
    kept = cache(function)

    def known(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        return kept(*args, **kwargs)  # type: ignore[arg-type]

    known.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
    known.__doc__ = function.__doc__
    # As `torch.compiler.assume_constant_result` does, which takes a second to load the compiler.
    known._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return known

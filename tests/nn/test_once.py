"""What is asked once, and what a compiler makes of it."""

import torch

from heedful.nn.kernels.blocks import missing
from heedful.nn.kernels.relative import nowhere
from heedful.nn.once import once

asked = []


@once
def _untraceable(name: str) -> str:
    """What is asked."""
    torch._dynamo.graph_break()
    asked.append(name)
    return name.upper()


def test_it_is_asked_once_for_each_argument() -> None:
    asked.clear()
    _untraceable.cache_clear()
    assert [_untraceable(name) for name in ("a", "b", "a")] == ["A", "B", "A"]
    assert asked == ["a", "b"]
    assert _untraceable.__doc__ == "What is asked."


def test_a_compiled_graph_holds_the_answer_and_does_not_break() -> None:
    def doubled(x):
        return x * 2 if _untraceable("here") == "HERE" else x

    torch._dynamo.reset()
    compiled = torch.compile(doubled, backend="eager", fullgraph=True)
    assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]


def test_what_kernels_need_is_asked_so() -> None:
    def marked(x):
        return x + len(nowhere("cpu"))

    torch._dynamo.reset()
    compiled = torch.compile(marked, backend="eager", fullgraph=True)
    assert compiled(torch.zeros(1)).item() == len(nowhere("cpu"))
    for function in (missing, nowhere):
        assert function._dynamo_marked_constant  # what `torch.compiler` sets

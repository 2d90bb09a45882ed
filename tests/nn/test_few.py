"""Attention of few queries on a CPU is attention as it is defined."""

import pytest
import torch
from torch.nn import functional as F

from heedful.nn.attention import Attention
from heedful.nn.kernels import choice
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.few import HEADS, SHORT, TINY, few
from heedful.nn.layout import line, ragged
from heedful.nn.memory import Memory
from heedful.nn.patterns import Causal, Full, Visible
from heedful.nn.sight import Sight


@pytest.mark.parametrize("dtype", [torch.double, torch.float32])
@pytest.mark.parametrize("queries", [1, 4])
@pytest.mark.parametrize("keys", [0, 1, 5, SHORT - 1, SHORT, 60])
@pytest.mark.parametrize("heads", [4, 2])  # of keys and values
@pytest.mark.parametrize("biased", [False, True])
@torch.no_grad()
def test_it_is_what_dense_gives(
    dtype: torch.dtype, queries: int, keys: int, heads: int, biased: bool
) -> None:
    width = 8
    assert 5 * width < TINY < 60 * width and HEADS >= 3 * 4  # so all ways are gone
    q = torch.randn(3, queries, 4, width, dtype=dtype).transpose(1, 2)
    k, v = torch.randn(2, 3, heads, keys + 2, width, dtype=dtype).narrow(3, 1, keys)
    bias = torch.randn(1, 4, queries, keys, dtype=dtype) if biased else None
    at = line(queries, batch=3)
    some_blind, none_blind = [keys, keys // 2, 0], [keys, (keys + 1) // 2, min(keys, 1)]
    layouts = (line(keys, batch=3), ragged(some_blind, keys), ragged(none_blind, keys))
    for seen in layouts:
        sight = Sight(Visible() & Full(), at, seen)
        assert keys == 0 or sight.clear == (seen.filling == "full")
        torch.testing.assert_close(few(q, k, v, sight, bias), dense(q, k, v, sight, bias))


@torch.no_grad()
def test_a_query_a_row_is_one_operation_while_there_are_few(monkeypatch) -> None:
    asked = []
    one = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **b: asked.append(1) or one(*a, **b)
    )
    for rows, queries, wanted in ((HEADS // 4, 1, 1), (HEADS // 4 + 1, 1, 0), (2, 2, 0)):
        asked.clear()
        q, k = torch.randn(rows, 4, queries, 8), torch.randn(rows, 4, 5, 8)
        few(q, k, k, Sight(Visible() & Full(), line(queries, batch=rows), line(5, batch=rows)))
        assert len(asked) == wanted


def test_who_learns_or_forgets_has_it_as_it_is_defined() -> None:
    q, k, v = (torch.randn(1, 2, n, 4, requires_grad=True) for n in (1, 3, 3))
    sight = Sight(Visible() & Full(), line(1), line(3))
    slopes = [torch.autograd.grad(way(q, k, v, sight).sum(), (q, k, v)) for way in (few, dense)]
    assert all(map(torch.equal, *slopes))
    with torch.no_grad():
        torch.manual_seed(0)
        one = few(q, k, v, sight, dropout=0.5)
        torch.manual_seed(0)
        assert torch.equal(one, dense(q, k, v, sight, dropout=0.5))


@torch.no_grad()
def test_a_step_of_decoding_is_computed_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(choice, "few", lambda *given: asked.append(1) or few(*given))
    part, memory = Attention(8, 2, pattern=Causal()).eval(), Memory()
    x = torch.randn(2, 40, 8)
    whole = part(x, line(40, batch=2))
    assert not asked
    steps = [part(x[:, [i]], line(1, i, batch=2), memory=memory) for i in range(40)]
    assert len(asked) == 40
    torch.testing.assert_close(torch.cat(steps, 1), whole)

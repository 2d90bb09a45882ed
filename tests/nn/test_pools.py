"""Pools: keys and values shrunk or joined, wherever their tokens lie in a row."""

import pytest
import torch

from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.memory import FORGET, Memory
from heedful.nn.patterns import Causal, Full
from heedful.nn.pools import Areas, Strided


def heads(*rows: list[float]) -> torch.Tensor:
    """One head of one channel: [B, 1, L, 1]."""
    return torch.tensor(rows, dtype=torch.double)[:, None, :, None]


def strided(size: int) -> Strided:
    """A pool that says which tokens it joined: 1 x the first + 10 x the second + ..."""
    pool = Strided(1, size).double()
    with torch.no_grad():
        for part in (pool.to_k, pool.to_v):
            part.weight.copy_(10.0 ** torch.arange(size)[None])
    return pool


def attention(pool: str, pattern=Causal(), **slots) -> Attention:
    torch.manual_seed(0)
    return Attention(16, 4, pattern=pattern, config=AttentionConfig(pool=pool, **slots)).double()


def test_strided_joins_tokens_by_threes_from_the_start_of_each_sequence() -> None:
    at = Layout(
        torch.tensor([[0, 1, 2, 3, 0, 1, 0]]),
        torch.tensor([[1, 1, 1, 1, 2, 2, 0]]),
    )
    k = heads([1, 2, 3, 4, 5, 6, 7])
    pooled, values, keys = strided(3)(k, 2 * k, at, FORGET)
    # Whole: 1 2 3. Left over: 4 of the first sequence, 5 6 of the second, which stays open.
    assert pooled.flatten().tolist() == [321, 4, 65]
    assert values.flatten().tolist() == [642, 8, 130]
    assert keys.positions.tolist() == [[2, 5, 2]]
    assert keys.segments.tolist() == [[1, 1, 2]]


def test_strided_finds_a_sequence_that_lies_in_two_pieces() -> None:
    at = Layout(
        torch.tensor([[0, 0, 1, 0, 1, 2, 2, 3]]),
        torch.tensor([[1, 2, 2, 0, 1, 1, 2, 2]]),
    )
    pooled, _, keys = strided(2)(*[heads([1, 2, 3, 4, 5, 6, 7, 8])] * 2, at, FORGET)
    assert pooled.flatten().tolist() == [51, 6, 32, 87, 0]
    assert keys.segments.tolist() == [[1, 1, 2, 2, 0]]
    assert keys.positions.tolist()[0][:4] == [1, 3, 1, 3]


def test_strided_goes_on_with_what_a_step_left_open() -> None:
    memory, pool, k = Memory(), strided(3), heads([1, 2, 3, 4, 5], [6, 7, 8, 9, 1])
    sizes = []
    for step in range(5):
        one = k[:, :, step : step + 1]
        pooled, _, keys = pool(one, one, line(1, step, batch=2), memory)
        sizes.append(pooled.shape[2])
    assert pooled[:, 0, :, 0].tolist() == [[321, 54], [876, 19]]
    assert keys.positions.tolist() == [[2, 5]] * 2
    assert sizes == [1, 1, 2, 2, 2]  # memory holds whole groups, and room for the one that is open


def test_areas_are_means_of_keys_and_sums_of_values() -> None:
    at = Layout(torch.tensor([[0, 1, 2, 0, 1]]), torch.tensor([[1, 1, 1, 2, 2]]))
    k = heads([2, 4, 6, 1, 3])
    pooled, values, keys = Areas(1, 2)(k, 10 * k, at, FORGET)
    real = keys.segments[0] > 0
    assert real.tolist() == [True] * 5 + [False, True, True, False, True]
    assert pooled[0, 0, real, 0].tolist() == [2, 4, 6, 1, 3, 3, 5, 2]
    assert values[0, 0, real, 0].tolist() == [20, 40, 60, 10, 30, 60, 100, 40]
    assert keys.positions[0, real].tolist() == [0, 1, 2, 0, 1, 1, 2, 1]


def test_areas_of_a_picture_are_rectangles() -> None:
    k = heads([1, 2, 3, 4, 5, 6])  # two rows of three
    pooled, values, keys = Areas(1, 2, 2, 3)(k, k, line(6), FORGET)
    real = keys.segments[0] > 0
    assert values[0, 0, real, 0].tolist() == [
        *[1, 2, 3, 4, 5, 6],  # one by one
        *[3, 5, 9, 11],  # two in a row
        *[5, 7, 9],  # two above each other
        *[12, 16],  # two by two
    ]
    assert pooled[0, 0, real, 0].tolist()[-1] == 4


def test_strided_by_one_with_no_change_is_plain_attention() -> None:
    pooled, plain = attention("strided:1"), attention("none")
    plain.load_state_dict(pooled.state_dict(), strict=False)
    with torch.no_grad():
        for part in (pooled.pool.to_k, pooled.pool.to_v):
            part.weight.copy_(torch.eye(16))
    x = torch.randn(3, 7, 16).double()
    at = ragged([7, 4, 1])
    real = at.real
    torch.testing.assert_close(pooled(x, ragged([7, 4, 1]))[real], plain(x, at)[real])


@pytest.mark.parametrize("pool", ["strided:3", "areas:3"])
def test_packed_is_as_padded(pool) -> None:
    attend = attention(pool, Full())
    x = torch.randn(1, 9, 16).double()
    packed = Layout(
        torch.tensor([[0, 1, 2, 3, 0, 1, 0, 1, 2]]), torch.tensor([[1] * 4 + [2] * 2 + [3] * 3])
    )
    alone = torch.cat([attend(piece, line(piece.shape[1])) for piece in x.split([4, 2, 3], 1)], 1)
    torch.testing.assert_close(attend(x, packed), alone)


@pytest.mark.parametrize("pool", ["strided:3", "areas:3", "areas:2:2:4"])
def test_the_future_does_not_leak_and_whole_groups_are_heard(pool) -> None:
    attend = attention(pool)
    x = torch.randn(1, 10, 16).double().requires_grad_()
    heard = torch.zeros(10, 10, dtype=torch.bool)
    for place in range(10):
        (slope,) = torch.autograd.grad(attend(x, line(10))[0, place].sum(), x)
        heard[place] = slope[0].abs().sum(-1) > 0
    assert not heard.triu(1).any()
    for place in range(10):
        whole = (place + 1) // 3 * 3 if pool == "strided:3" else place + 1
        assert heard[place, :whole].all(), place


def test_strided_looks_at_a_third_as_many_keys() -> None:
    looked_at = []
    attend = attention("strided:3")
    plain = attend.kernel

    def counting(q, k, *rest, **named):
        looked_at.append(k.shape[2])
        return plain(q, k, *rest, **named)

    attend.kernel = counting
    attend(torch.randn(2, 300, 16).double(), line(300, batch=2))
    assert looked_at == [101]  # 100 whole groups, and room for the open one

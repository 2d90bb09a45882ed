"""Relative positions: skewed and picked scores against a vector for every pair, and their laws."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from heedful.errors import UsageError
from heedful.nn import relative_plain as plain
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.kernels.dense import weights
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.memory import Memory
from heedful.nn.patterns import Causal, Full, Visible
from heedful.nn.relative import RELATIVE, Reach, Relative, Shaw, ShawKeys, Skew, distance, line_of
from heedful.nn.sight import Sight, sight
from heedful.nn.skewing import skew, skew_causal, unskew, unskew_causal
from heedful.nn.watching import watch

PACKED = Layout(
    torch.tensor([[0, 1, 2, 0, 1, 2, 3, 0], [0, 1, 0, 1, 2, 3, 4, 2]]),
    torch.tensor([[1, 1, 1, 2, 2, 2, 2, 0], [1, 1, 2, 2, 2, 2, 2, 1]]),  # the last: in two pieces
)
LAYOUTS = {"line": line(8, batch=2), "padded": ragged([8, 5]), "packed": PACKED}
EXACT = {"rtol": 1e-12, "atol": 1e-12}


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


def qkv(length: int = 8) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [draw(2, 3, length, 4) for _ in range(3)]


def made(kind: type[Relative], far: int, causal: bool, shared: int = 0) -> Relative:
    torch.manual_seed(1)
    return kind(3, 4, causal, far, shared).double()


def every_pair(table, reach: Reach, at: Layout) -> torch.Tensor:
    """The vector of each pair, written out one by one."""
    rows = table(torch.double)
    zero = rows.new_zeros(rows.shape[0], rows.shape[2])

    def one(far: int) -> torch.Tensor:
        if -reach.back <= far <= reach.ahead:
            return rows[:, far + reach.back]
        if not reach.clipped:
            return zero
        return rows[:, 0] if far < 0 else rows[:, -1]

    places = at.positions.tolist()
    pairs = [torch.stack([torch.stack([one(j - i) for j in r]) for i in r]) for r in places]
    return torch.stack(pairs).permute(0, 3, 1, 2, 4)


def attended(bias: Relative, q, k, v, seen: Sight) -> torch.Tensor:
    """What `Attention` computes, without its projections."""
    part = Attention(12, 3, pattern=Full(), config=AttentionConfig(kernel="dense"))
    part.bias = bias
    return part.attend(q, k, v, seen)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("kind", "far", "shared"),
    [
        (Shaw, 2, 0),
        (Shaw, 0, 0),
        (Shaw, 20, 1),
        (ShawKeys, 3, 0),
        (Skew, 3, 0),
        (Skew, 8, 1),
        (Skew, 20, 0),
    ],
)
def test_outputs_and_gradients_are_those_of_a_vector_for_every_pair(
    kind, far, shared, causal, layout
) -> None:
    bias, at, (q, k, v) = made(kind, far, causal, shared), LAYOUTS[layout], qkv()
    seen = Sight(Visible() & (Causal() if causal else Full()), at, at)
    keys = every_pair(bias.keys, bias.reach, at)
    values = None if bias.values is None else every_pair(bias.values, bias.reach, at)
    theirs = plain.attend(q, k, v, seen.dense, keys, values)
    ours = attended(bias, q, k, v, seen)
    back = torch.randn_like(ours) * at.real[:, None, :, None]
    inputs = [q, k, v, *bias.parameters()]
    left, right = (out.transpose(1, 2)[at.real] for out in (ours, theirs))
    torch.testing.assert_close(left, right, **EXACT)
    for one, other in zip(
        torch.autograd.grad((ours * back).sum(), inputs),
        torch.autograd.grad((theirs * back).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(one, other, **EXACT)


@pytest.mark.parametrize("length", [1, 2, 7])
def test_skewing_moves_every_distance_to_its_key_and_back(length) -> None:
    x = draw(2, length, 2 * length - 1)
    moved = skew(x)
    for i in range(length):
        for j in range(length):
            assert torch.equal(moved[:, i, j], x[:, i, j - i + length - 1])
    causal = skew_causal(x[..., :length])
    for i in range(length):
        for j in range(i + 1):
            assert torch.equal(causal[:, i, j], x[:, i, j - i + length - 1])
    y = draw(2, length, length)
    assert torch.equal(skew(unskew(y)), y)
    assert torch.equal(skew_causal(unskew_causal(y.tril())).tril(), y.tril())
    assert unskew(y).count_nonzero() == y.numel() and unskew_causal(y.tril())[:, 0, :-1].eq(0).all()


@pytest.mark.parametrize("causal", [True, False])
def test_values_by_distance_are_the_weights_unskewed(causal) -> None:
    """The value side by skewing, as the paper of the Music Transformer would."""
    bias, at, (q, k, _) = made(Shaw, 3, causal), line(6, batch=2), qkv(6)
    shares = weights(q, k, Sight(Causal() if causal else Full(), at, at))
    rows = line_of(bias.values(torch.double), bias.reach, 6, causal)
    by_skew = (unskew_causal if causal else unskew)(shares) @ rows
    torch.testing.assert_close(bias.read(shares, at, at), by_skew, **EXACT)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_block_local_attention_is_a_pattern_with_twice_as_many_distances(layout) -> None:
    """Section 3.5 of the Music Transformer's paper: each block looks at itself and the one before,
    so that 2B distances are all there are. Here with what settings write, against a vector for
    every pair."""
    at, (q, k, v) = LAYOUTS[layout], qkv()
    config = AttentionConfig(bias="skew:4", pattern="in_blocks:2")
    part = Attention(12, 3, pattern=Causal(), config=config).double()
    place, behind = at.positions, at.positions[:, :, None] - at.positions[:, None, :]
    blocks = place[:, :, None] // 2 - place[:, None, :] // 2
    same = at.segments[:, :, None] == at.segments[:, None, :]
    past = same & (behind >= 0)
    seen = past & (blocks <= 1)
    assert int(behind[seen].max()) == 3 and int(behind[past].max()) > 3
    pairs = every_pair(part.bias.keys, part.bias.reach, at)
    theirs = plain.attend(q, k, v, seen[:, None], pairs)
    ours = part.attend(q, k, v, sight(part.pattern, at, at))
    left, right = (out.transpose(1, 2)[at.real] for out in (ours, theirs))
    torch.testing.assert_close(left, right, **EXACT)
    inputs, back = [q, k, v, part.bias.keys.rows], torch.randn_like(right)
    for one, other in zip(
        torch.autograd.grad(left, inputs, back),
        torch.autograd.grad(right, inputs, back),
        strict=True,
    ):
        torch.testing.assert_close(one, other, **EXACT)


def test_beyond_the_end_scores_depend_on_the_query_alone() -> None:
    bias, at, (q, _, _) = made(Shaw, 2, False), line(8, batch=2), qkv()
    score = bias(q, at, at)
    assert torch.equal(score[:, :, 7, :6], score[:, :, 7, :1].expand(-1, -1, 6))
    assert not torch.equal(score[:, :, 7, 6], score[:, :, 7, 5])


@pytest.mark.parametrize("kind", ["shaw:0", "shaw_keys:0"])
def test_without_distances_order_does_not_matter(kind) -> None:
    attention = Attention(12, 3, pattern=Full(), config=AttentionConfig(bias=kind)).double()
    nn.init.normal_(attention.bias.keys.rows)
    x, order = torch.randn(1, 7, 12, dtype=torch.double), torch.randperm(7)
    torch.testing.assert_close(
        attention(x[:, order], line(7)), attention(x, line(7))[:, order], **EXACT
    )


@pytest.mark.parametrize(("kind", "far"), [(Shaw, 2), (Skew, 3), (Skew, 9)])
def test_for_one_and_the_same_query_scores_depend_on_distance_alone(kind, far) -> None:
    bias, at = made(kind, far, False), line(8)
    score = bias(draw(1, 3, 1, 4).expand(-1, -1, 8, -1), at, at)
    assert torch.equal(score[..., 1:, 1:], score[..., :-1, :-1])
    assert score.std() > 0


def test_clipped_and_unclipped_differ_exactly_beyond_the_end() -> None:
    """Tensor2Tensor's first and second way: the second adds nothing there."""
    shaw, skewed, at, (q, _, _) = made(ShawKeys, 2, False), made(Skew, 3, False), PACKED, qkv()
    skewed.load_state_dict(shaw.state_dict())
    one, other = shaw(q, at, at), skewed(q, at, at)
    beyond = (distance(at, at).abs() > 2).expand_as(one)
    assert torch.equal(one[~beyond], other[~beyond])
    assert other[beyond].eq(0).all() and one[beyond].ne(0).all()


@pytest.mark.parametrize("kind", ["shaw:2", "shaw:2:1", "shaw_keys:3", "skew:4", "skew:32"])
@pytest.mark.parametrize("pattern", ["full", "in_blocks:2"])
@pytest.mark.parametrize("cuts", [(1,) * 7, (3, 1, 3)], ids=str)
def test_in_pieces_as_at_once_and_packed_as_alone(kind, pattern, cuts) -> None:
    torch.manual_seed(0)
    config = AttentionConfig(bias=kind, pattern=pattern)
    attention = Attention(16, 4, pattern=Causal(), config=config).double()
    x = torch.randn(2, 7, 16, dtype=torch.double)
    whole = attention(x, line(7, batch=2))
    memory, pieces, start = Memory(), [], 0
    for piece in x.split(cuts, 1):
        pieces.append(attention(piece, line(piece.shape[1], start, batch=2), memory=memory))
        start += piece.shape[1]
    torch.testing.assert_close(torch.cat(pieces, 1), whole)
    both = Layout(
        torch.cat([torch.arange(7), torch.arange(7)])[None],
        torch.tensor([1] * 7 + [2] * 7)[None],
    )
    packed = attention(x.reshape(1, 14, 16), both)
    torch.testing.assert_close(packed.reshape(2, 7, 16), whole)


def test_weights_are_dropped_alike_for_values_and_their_vectors() -> None:
    bias, at, (q, k, v) = made(Shaw, 20, False), line(8, batch=2), qkv()
    with torch.no_grad():
        bias.values.rows.copy_(torch.ones_like(bias.values.rows))
    part = Attention(12, 3, pattern=Full(), dropout=0.5).train()
    part.bias = bias
    out = part.attend(q, k, torch.ones_like(v), sight(Full(), at, at))
    assert out.std() > 0.1  # something was dropped
    with torch.no_grad():
        bias.values.rows.neg_()
    torch.manual_seed(3)
    none = part.attend(q, k, torch.ones_like(v), sight(Full(), at, at))
    torch.testing.assert_close(none, torch.zeros_like(none), **EXACT)


@pytest.mark.parametrize("kind", ["shaw:2", "skew:4"])
def test_watching_changes_nothing_and_sees_the_weights(kind) -> None:
    torch.manual_seed(0)
    attention = Attention(16, 4, pattern=Causal(), config=AttentionConfig(bias=kind)).eval()
    x = torch.randn(2, 6, 16)
    plainly = attention(x, line(6, batch=2))
    with watch(attention) as seen:
        watched = attention(x, line(6, batch=2))
    torch.testing.assert_close(watched, plainly)
    (shares,) = seen.by_name.values()
    torch.testing.assert_close(shares.sum(-1), torch.ones(2, 4, 6))


class Largest(TorchDispatchMode):
    """Notes how many numbers the largest tensor had that was ever made."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for x in out if isinstance(out, tuple | list) else (out,):
            if isinstance(x, torch.Tensor):
                self.numbers = max(self.numbers, x.untyped_storage().size() // x.element_size())
        return out


@pytest.mark.parametrize("kind", ["shaw:16", "skew:64"])
def test_no_vector_is_ever_copied_for_a_pair(kind) -> None:
    length, width = 64, 16
    for causal in (True, False):
        pattern = Causal() if causal else Full()
        part = Attention(2 * width, 2, pattern=pattern, config=AttentionConfig(bias=kind))
        x = torch.randn(1, length, 2 * width, requires_grad=True)
        with Largest() as largest:
            part(x, line(length)).sum().backward()
        assert length**2 <= largest.numbers < 2 * 2.2 * length**2 < 2 * length**2 * width


def test_settings_are_read_and_refused_in_words() -> None:
    def bias(text: str, pattern=Causal()):
        return Attention(16, 4, pattern=pattern, config=AttentionConfig(bias=text)).bias

    assert bias("shaw:16").reach == Reach(16, 0, True)
    assert bias("shaw:16", Full()).reach == Reach(16, 16, True)
    assert bias("skew:512").reach == Reach(511, 0, False)
    assert bias("shaw:3:1").keys.rows.shape == (1, 4, 4)
    assert bias("shaw:3").keys.rows.shape == (4, 4, 4)
    for text in ("shaw", "skew:many", "shaw:1:2:3"):
        with pytest.raises(UsageError, match=RELATIVE[text.split(":")[0]].form):
            bias(text)
    with pytest.raises(UsageError, match=r"skew:N.*got skew:0"):
        bias("skew:0")
    with pytest.raises(UsageError, match="Close: skew.*shaw:K"):
        bias("skw:3")

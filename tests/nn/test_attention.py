"""Attention against torch.nn.MultiheadAttention, its kernels against `dense`, and watching it."""

import pytest
import torch
from torch import nn

from heedful.errors import UsageError
from heedful.nn.attention import Attention, AttentionConfig, Encoded
from heedful.nn.kernels import KERNELS
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.patterns import Causal, Full, Near, Visible
from heedful.nn.sight import sight
from heedful.nn.watching import watch

PACKED = Layout(
    torch.tensor([[0, 1, 2, 3, 0, 1, 2, 0], [0, 1, 2, 3, 4, 5, 6, 7]]),
    torch.tensor([[1, 1, 1, 1, 2, 2, 2, 0], [1, 1, 1, 1, 1, 1, 1, 1]]),
)


def qkv(heads=2, kv_heads=2, dtype=torch.double):
    torch.manual_seed(0)
    q = torch.randn(2, heads, 8, 4, dtype=dtype, requires_grad=True)
    k, v = torch.randn(2, 2, kv_heads, 8, 4, dtype=dtype).unbind()
    return q, k.requires_grad_(), v.requires_grad_()


@pytest.mark.parametrize("pattern", [Full(), Causal(), Near(2, 1)], ids=str)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("kv_heads", [2, 1])
@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"dense"}))
def test_a_fast_kernel_equals_dense(name, pattern, biased, kv_heads) -> None:
    q, k, v = qkv(kv_heads=kv_heads, dtype=torch.float if name == "blocks" else torch.double)
    bias = torch.randn(1, 2, 8, 8, dtype=q.dtype) if biased else None
    seen = sight(Visible() & pattern, PACKED, PACKED)
    real = PACKED.real[:, None, :, None]
    if name == "blocks":  # no backward on a CPU
        q, k, v = q.detach(), k.detach(), v.detach()
    ours, reference = KERNELS[name](q, k, v, seen, bias), KERNELS["dense"](q, k, v, seen, bias)
    torch.testing.assert_close(ours * real, reference * real)
    if not q.requires_grad:
        return
    for one, other in zip(
        torch.autograd.grad((ours * real).square().sum(), (q, k, v)),
        torch.autograd.grad((reference * real).square().sum(), (q, k, v)),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_dense_equals_attention_written_as_a_loop() -> None:
    q, k, v = (x.detach() for x in qkv())
    out = KERNELS["dense"](q, k, v, sight(Visible() & Causal(), PACKED, PACKED))
    for b in range(2):
        for h in range(2):
            for i in range(8):
                may = [
                    j
                    for j in range(8)
                    if PACKED.segments[b, j] == PACKED.segments[b, i]
                    and PACKED.positions[b, j] <= PACKED.positions[b, i]
                ]
                score = torch.stack([q[b, h, i] @ k[b, h, j] / 2.0 for j in may])
                share = score.exp() / score.exp().sum()
                read = sum(w * v[b, h, j] for w, j in zip(share, may, strict=True))
                torch.testing.assert_close(out[b, h, i], read)


def test_a_query_that_may_see_nothing_reads_zeros_in_every_kernel() -> None:
    q, k, v = (x.detach().float() for x in qkv())
    empty = ragged([0, 8])
    for name in KERNELS:
        out = KERNELS[name](q, k, v, sight(Visible(), line(8, batch=2), empty))
        assert torch.equal(out[0], torch.zeros_like(out[0])), name


@pytest.mark.parametrize("biased", [False, True])
def test_fused_gives_pytorch_no_row_of_the_mask_with_nothing_in_it(monkeypatch, biased) -> None:
    """Its GPU kernels answer such a row with garbage, and with gradients that are not numbers."""
    masks = []

    def attend(q, k, v, attn_mask, dropout_p):
        masks.append(attn_mask)
        return torch.full_like(q, 7.0)

    monkeypatch.setattr("torch.nn.functional.scaled_dot_product_attention", attend)
    q, k, v = qkv()
    bias = torch.zeros(1, 2, 8, 8, dtype=torch.double) if biased else None
    out = KERNELS["fused"](q, k, v, sight(Visible(), ragged([0, 3], 8), line(8, batch=2)), bias)
    seen = masks[0] > -1 if biased else masks[0]
    assert seen.any(-1).all()
    assert out[0].abs().max() == 0 and out[1, :, 3:].abs().max() == 0 and out[1, 0, 0, 0] == 7


def test_self_attention_equals_torch_multihead_attention() -> None:
    torch.manual_seed(0)
    ours = Attention(16, 4, pattern=Causal()).double()
    theirs = nn.MultiheadAttention(16, 4, bias=False, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.to_qkv.weight)
        theirs.out_proj.weight.copy_(ours.to_out.weight)
    x, at = torch.randn(3, 6, 16, dtype=torch.double), ragged([6, 4, 1])
    causal = torch.ones(6, 6, dtype=torch.bool).triu(1)
    reference, _ = theirs(x, x, x, attn_mask=causal, key_padding_mask=~at.real)
    torch.testing.assert_close(ours(x, at)[at.real], reference[at.real])


def test_cross_attention_equals_torch_multihead_attention() -> None:
    torch.manual_seed(0)
    ours = Attention(16, 4, pattern=Full(), reads=True).double()
    theirs = nn.MultiheadAttention(16, 4, bias=False, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.to_q.weight, ours.to_kv.weight]))
        theirs.out_proj.weight.copy_(ours.to_out.weight)
    x, source = torch.randn(2, 3, 16).double(), torch.randn(2, 5, 16).double()
    at = ragged([5, 2])
    reference, _ = theirs(x, source, source, key_padding_mask=~at.real)
    torch.testing.assert_close(ours(x, line(3, batch=2), Encoded(source, at)), reference)


@pytest.mark.parametrize(
    "config",
    [
        AttentionConfig(bias="alibi"),
        AttentionConfig(bias="bucket"),
        AttentionConfig(turn="rotary"),
        AttentionConfig(kv_heads=1),
        AttentionConfig(head_dim=6),
        AttentionConfig(pattern="near:2"),
        AttentionConfig(pool="strided:1"),
        AttentionConfig(pool="strided:3"),
        AttentionConfig(pool="areas:3", kv_heads=2),
        AttentionConfig(pool="areas:2:2:3", bias="alibi"),
    ],
    ids=str,
)
@pytest.mark.parametrize("cuts", [(1,) * 7, (3, 1, 3)], ids=str)
def test_every_slot_attends_in_pieces_as_at_once(config, cuts) -> None:
    from heedful.nn.memory import Memory

    torch.manual_seed(0)
    attention = Attention(16, 4, pattern=Causal(), config=config).double()
    if attention.bias is not None and hasattr(attention.bias, "table"):
        nn.init.normal_(attention.bias.table)
    x = torch.randn(2, 7, 16, dtype=torch.double)
    whole = attention(x, line(7, batch=2))
    memory, pieces, start = Memory(), [], 0
    for piece in x.split(cuts, 1):
        pieces.append(attention(piece, line(piece.shape[1], start, batch=2), memory=memory))
        start += piece.shape[1]
    torch.testing.assert_close(torch.cat(pieces, 1), whole)


@pytest.mark.parametrize(
    "config",
    [AttentionConfig(turn="rotary"), AttentionConfig(bias="bucket"), AttentionConfig(bias="alibi")],
    ids=str,
)
def test_relative_slots_know_distance_and_not_place(config) -> None:
    torch.manual_seed(0)
    attention = Attention(16, 4, pattern=Full(), config=config).double()
    x = torch.randn(1, 5, 16, dtype=torch.double)
    torch.testing.assert_close(attention(x, line(5)), attention(x, line(5, start=100)))


def test_bucket_bias_has_single_buckets_near_and_wide_ones_far() -> None:
    from heedful.nn.biases import BucketBias

    bucket = BucketBias(1).bucket(torch.tensor([0, -1, -7, -8, -9, -127, -1000, 1, 8, 1000]))
    assert bucket.tolist() == [0, 1, 7, 8, 8, 15, 15, 17, 24, 31]


def test_multi_query_has_one_head_of_keys() -> None:
    attention = Attention(16, 4, pattern=Full(), config=AttentionConfig(kv_heads=1))
    assert attention.to_kv.weight.shape == (8, 16)


def test_what_is_watched_is_what_was_computed_and_the_kernel_comes_back() -> None:
    torch.manual_seed(0)
    attention = Attention(8, 2, pattern=Causal())
    x, kernel = torch.randn(1, 4, 8), attention.kernel
    plain = attention(x, line(4))
    with watch(attention) as seen:
        watched = attention(x, line(4))
    torch.testing.assert_close(watched, plain)
    assert attention.kernel is kernel
    ((_, weights),) = seen.weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 4))
    assert weights[0, :, 0, 1:].abs().max() == 0
    _, _, v = attention.apart(attention.projected(x))
    read = torch.einsum("bhqk,bhke->bqhe", weights, v).flatten(2)
    torch.testing.assert_close(attention.to_out(read), plain)


def test_watching_under_dropout_still_shows_whole_weights() -> None:
    attention = Attention(8, 2, pattern=Full(), dropout=0.5).train()
    with watch(attention, kinds=("self",)) as seen:
        attention(torch.randn(1, 4, 8), line(4))
    torch.testing.assert_close(seen.weights[0][1].sum(-1), torch.ones(1, 2, 4))


def test_only_the_kinds_asked_for_are_watched() -> None:
    attention = Attention(8, 2, pattern=Full())
    with watch(attention, kinds=("cross",)) as seen:
        attention(torch.randn(1, 4, 8), line(4))
    assert seen.weights == []


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Attention(10, 4, pattern=Full()), "4 heads cannot share 10 channels"),
        (
            lambda: Attention(8, 4, pattern=Full(), config=AttentionConfig(kv_heads=3)),
            "3 heads of keys",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(kernel="fuse")),
            "Close: fused",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(bias="alibu")),
            "Close: alibi",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(turn="rotari")),
            "Close: rotary",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(pool="stride:3")),
            "Close: strided",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(pool="strided")),
            "it is strided:SIZE",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(pool="strided:0")),
            "1 token or more, got 0",
        ),
        (
            lambda: Attention(8, 2, pattern=Full(), config=AttentionConfig(pool="areas:3:2")),
            "a ROW of WIDE or more",
        ),
        (
            lambda: Attention(6, 2, pattern=Full(), config=AttentionConfig(turn="rotary")),
            "odd number",
        ),
        (
            lambda: Attention(
                8, 2, pattern=Full(), dropout=0.1, config=AttentionConfig(kernel="blocks")
            ),
            "use one of: dense, fused",
        ),
    ],
)
def test_slots_that_do_not_fit_say_so_when_built(make, says) -> None:
    with pytest.raises(UsageError, match=says):
        make()


def test_blocks_says_that_it_does_not_train_on_a_cpu() -> None:
    q, k, v = qkv()
    with pytest.raises(UsageError, match="'fused' does"):
        KERNELS["blocks"](q, k, v, sight(Full(), PACKED, PACKED))
    with pytest.raises(UsageError, match="no dropout"):
        KERNELS["blocks"](q, k, v, sight(Full(), PACKED, PACKED), dropout=0.1)

"""The kernel for spans gives what `dense` gives: interpreted, and on a GPU."""

import pytest
import torch

from heedful.errors import UsageError
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.spanned import refusal, spanned
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.patterns import Causal, Dilated, Full, InBlocks, Near, Pattern, Visible
from heedful.nn.sight import Sight

INTERPRETED = """
import torch
from torch.utils.checkpoint import checkpoint
from heedful.nn.attention import Attention, AttentionConfig, Encoded
from heedful.nn.kernels import spans_op
from heedful.nn.kernels.choice import Auto
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.spanned import spanned
from heedful.nn.kernels.spans_op import TUNING, Tiles
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.memory import Memory
from heedful.nn.patterns import Causal, Full, InBlocks, Near, Visible
from heedful.nn.sight import Sight

def packed(*lengths, length):
    positions = torch.cat([torch.arange(n) for n in lengths])
    segments = torch.cat([torch.full((n,), i + 1) for i, n in enumerate(lengths)])
    gap = (0, length - len(positions))
    pad = torch.nn.functional.pad
    return Layout(pad(positions, gap)[None], pad(segments, gap)[None])

f32, bf16 = torch.float32, torch.bfloat16
few = packed(5, 30, 2, 20, length=70)
CASES = {
    "causal": (Causal(), few, None, 2, 32, f32),
    "two_sided": (Full(), few, None, 1, 32, f32),
    "cross": (Full(), few, packed(9, 3, 40, 1, 11, length=66), 1, 32, f32),
    "cross_of_padded": (Full(), ragged([3, 33, 0]), ragged([40, 0, 7]), 1, 32, f32),
    "one_each": (Causal(), line(50, batch=2), None, 1, 40, f32),
    "whole_tiles": (Full(), line(64), None, 1, 32, f32),
    "nothing": (Causal(), ragged([0, 0], 20), None, 1, 32, f32),
    "nothing_to_read": (Full(), ragged([20]), ragged([0], 20), 1, 32, f32),
    "near": (Causal() & Near(9), few, None, 1, 32, f32),
    "near_on_both_sides": (Near(12, 4), ragged([60, 21]), None, 1, 32, f32),
    "in_blocks": (InBlocks(8), few, None, 1, 16, f32),
    "bf16": (Causal(), few, None, 2, 64, bf16),
    "bf16_of_width_72": (Full(), few, None, 1, 72, bf16),
    "wide": (Full(), few, None, 1, 128, f32),
}

def check(name, few_keys=False, as_it_lies=lambda x: x):
    pattern, at, source, heads, width, dtype = CASES[name]
    torch.manual_seed(0)
    TUNING.forward, TUNING.queries = Tiles(32, 32, 4, 1), Tiles(64, 32, 4, 1)
    TUNING.keys = Tiles(32, 64, 4, 1)
    at, source = at, at if source is None else source
    (batch, queries), keys = at.positions.shape, source.positions.shape[1]

    def some(length, heads):  # as a projection leaves it
        x = torch.randn(batch, length, heads, width).to(dtype)
        return as_it_lies(x.transpose(1, 2)).requires_grad_()

    q, (k, v) = some(queries, heads), (some(keys, 1 if few_keys else heads) for _ in range(2))
    sight = Sight(Visible() & pattern, at, source)
    out = spanned(q, k, v, sight)
    assert out.dtype == dtype and out.transpose(1, 2).is_contiguous()
    back = torch.randn(out.shape).to(dtype) * at.real[:, None, :, None]
    found = torch.autograd.grad(out, [q, k, v], as_it_lies(back))
    inputs = [x.detach().double().requires_grad_() for x in (q, k, v)]
    wanted = dense(*inputs, sight)
    slopes = torch.autograd.grad(wanted, inputs, back.double())
    wanted = wanted * at.real[:, None, :, None]
    near = 2e-2 if dtype == bf16 else 2e-5
    for what, one, other in zip("out q k v".split(), (out, *found), (wanted, *slopes)):
        one, other = one.detach().double(), other.detach()
        if what in "kv":  # what is padding there is seen by nobody
            one, other = (x * source.real[:, None, :, None] for x in (one, other))
        far_off = float((one - other).norm() / other.norm().clamp(min=1))
        assert far_off < near, (name, what, far_off)

for name in CASES:
    check(name)
check("causal", few_keys=True)
check("causal", as_it_lies=lambda x: x.contiguous())  # heads before tokens
check("causal", as_it_lies=lambda x: x.mT.contiguous().mT)  # channels apart
check("cross", as_it_lies=lambda x: torch.cat([x, x], 3)[..., : x.shape[3]])  # among others

# A gradient that is one number for all is read as well, and what is done twice gives the same.
sight = Sight(Visible() & Causal(), few, few)
q, k, v = (torch.randn(1, 2, 70, 32, requires_grad=True) for _ in range(3))
once = torch.autograd.grad(spanned(q, k, v, sight).sum(), (q, k, v))
again = checkpoint(lambda *x: spanned(*x, sight), q, k, v, use_reentrant=False)
for one, other in zip(once, torch.autograd.grad(again.sum(), (q, k, v))):
    assert torch.equal(one, other)
with torch.autocast("cpu", torch.bfloat16):
    assert spanned(q, k, v, sight).dtype == bf16

# By name it computes whole rows, and what goes on from a memory as the others do.
def pair(kernel, width=64):
    torch.manual_seed(0)
    part = Attention(width, 2, pattern=Causal(), config=AttentionConfig(kernel=kernel)).eval()
    plain = Attention(width, 2, pattern=Causal(), config=AttentionConfig(kernel="dense")).eval()
    plain.load_state_dict(part.state_dict())
    return part, plain

def near(one, other):
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)

part, plain = pair("spans")
x = torch.randn(1, 70, 64)
near(part(x, few)[few.real], plain(x, few)[few.real])
assert few.seen["sights"][0]._spans is not None
memory = Memory()
pieces = [part(x[:, a:b], line(b - a, a), memory=memory) for a, b in ((0, 40), (40, 41), (41, 70))]
near(torch.cat(pieces, 1), plain(x, line(70)))

# By itself it is chosen where `blocks` would be and rows hold several sequences in turn.
Auto.choose = lambda *asked: "blocks"
part, plain = pair("auto")
apart = Layout(few.positions, torch.where(few.segments == 1, 9, few.segments))
with torch.no_grad():
    for at, chosen in ((packed(5, 30, 2, 20, length=70), True), (line(70), False), (apart, False)):
        near(part(x, at)[at.real], plain(x, at)[at.real])
        assert (at.seen["sights"][0]._spans is not None) == chosen

# Queries, keys and values stay together as they were projected, and so do their gradients.
others = packed(9, 3, 40, 1, length=66)
for reads in (False, True):
    torch.manual_seed(0)
    part = Attention(64, 2, pattern=Full() if reads else Causal(), reads=reads)
    plain = Attention(
        64, 2, pattern=part.pattern, reads=reads, config=AttentionConfig(kernel="dense")
    )
    plain.load_state_dict(part.state_dict())
    given = x.clone().requires_grad_(), torch.randn(1, 66, 64, requires_grad=True)
    found = []
    for one in (part, plain):
        at, sides = packed(5, 30, 2, 20, length=70), []
        source = Encoded(given[1], others) if reads else None
        together = spans_op.attend
        spans_op.attend = lambda them, *more: sides.append(len(them)) or together(them, *more)
        out = one(given[0], at, source) * at.real[..., None]
        spans_op.attend = together
        assert sides == ([2 if reads else 1] if one is part else [])
        wanted = [*given[: 1 + reads], *one.parameters()]
        found.append([out, *torch.autograd.grad(out.square().sum(), wanted)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)
"""

ON_A_GPU = """
import copy
import torch
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.layout import Layout
from heedful.nn.patterns import Causal

def rows(*lengths):
    positions = torch.cat([torch.arange(n) for n in lengths])
    segments = torch.cat([torch.full((n,), i + 1) for i, n in enumerate(lengths)])
    pad = torch.nn.functional.pad
    return [pad(x, (0, 600 - len(x)))[None].repeat(2, 1).cuda() for x in (positions, segments)]

torch.manual_seed(0)
part = Attention(128, 2, pattern=Causal()).cuda()
low = copy.deepcopy(part).bfloat16()
plain = Attention(128, 2, pattern=Causal(), config=AttentionConfig(kernel="dense"))
plain.to_qkv, plain.to_out = part.to_qkv, part.to_out
x = torch.randn(2, 600, 128, device="cuda", requires_grad=True)
x_low = x.detach().bfloat16().requires_grad_()
positions, segments = rows(25, 300, 1, 60, 200)

def slopes(attend, x, weights, by_spans=True):
    at = Layout(positions, segments, filled="in_turn")
    out = attend(x, at) * at.real[..., None]
    compiled = attend is not weights
    assert compiled or (at.seen["sights"][0]._spans is not None) == by_spans
    return [out, *torch.autograd.grad(out.float().square().sum(), [x, *weights.parameters()])]

def near(ones, others, bound=3e-2):
    for one, other in zip(ones, others, strict=True):
        far = float((one.double() - other).detach().norm() / other.detach().norm())
        assert far < bound, far

wanted = slopes(plain, x, plain, by_spans=False)
near(slopes(part, x, part), wanted, 1e-3)
near(slopes(low, x_low, low), wanted)
near(slopes(torch.compile(part, fullgraph=True), x, part), wanted, 1e-3)
near(slopes(torch.compile(low, fullgraph=True), x_low, low), wanted)

# Recorded as a CUDA graph, as training does, and replayed for other rows.
for _ in range(3):
    slopes(low, x_low, low)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    recorded = slopes(low, x_low, low)
with torch.no_grad():
    x.copy_(torch.randn_like(x))
    x_low.copy_(x)
for into, new in zip((positions, segments), rows(7, 90, 400, 33, 2, 2), strict=True):
    into.copy_(new)
graph.replay()
near(recorded, slopes(plain, x, plain, by_spans=False))
"""


def test_outputs_and_gradients_are_those_of_dense(by_kernels) -> None:
    by_kernels(INTERPRETED)


@pytest.mark.gpu
def test_on_a_gpu_it_is_chosen_compiled_and_recorded(by_kernels) -> None:
    by_kernels(ON_A_GPU, "cuda")


def test_by_name_it_is_used_or_refused() -> None:
    for slots, dropout in (({"bias": "skew:9"}, 0.0), ({"bias": "alibi"}, 0.0), ({}, 0.1)):
        config = AttentionConfig(kernel="spans", **slots)
        with pytest.raises(UsageError, match=r"has no bias and no dropout.*to auto"):
            Attention(64, 2, pattern=Causal(), config=config, dropout=dropout)
    part = Attention(64, 2, pattern=Causal(), config=AttentionConfig(kernel="spans"))
    with pytest.raises(UsageError, match=r"'spans' needs .*Use kernel=auto"):
        part(torch.randn(1, 20, 64), line(20))


APART = Layout(torch.arange(20)[None], torch.tensor([[1, 2] * 10]))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"bias": torch.zeros(1, 1, 20, 20)}, "has no bias"),
        ({"dropout": 0.1}, "no dropout of weights, and attention_dropout is 0.1"),
        ({"pattern": Visible() & Dilated(3)}, "no pattern Dilated"),
        ({"pattern": Visible() & Near(3), "keys": line(9)}, "no pattern Near(back=3, ahead=0) acr"),
        ({"at": APART}, "in one piece"),
        ({"width": 8}, "heads of 16 to 128 channels, and these have 8"),
        ({"dtype": torch.float64}, "float32 and bfloat16, and this is torch.float64"),
        ({}, "needs a GPU, and this is a cpu"),
    ],
    ids=lambda x: next(iter(x), "nothing") if isinstance(x, dict) else "",
)
def test_what_it_cannot_do_is_refused_in_words(asked, why, monkeypatch) -> None:
    pytest.importorskip("triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    at = asked.get("at", line(20))
    q = torch.randn(1, 2, 20, asked.get("width", 32), dtype=asked.get("dtype", torch.float32))
    sight = Sight(asked.get("pattern", Visible() & Full()), at, asked.get("keys", at))
    assert why in refusal(q, sight, asked.get("bias"), asked.get("dropout", 0.0))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("width", [16, 40, 64, 128])
@pytest.mark.parametrize("pattern", [Full(), Causal(), Causal() & Near(30), InBlocks(32)], ids=str)
def test_on_a_gpu_it_gives_what_dense_gives(pattern: Pattern, width: int, dtype) -> None:
    torch.manual_seed(0)
    counts = torch.tensor([25, 1, 60, 30, 90, 44, 3, 20])
    segments = torch.repeat_interleave(torch.arange(1, len(counts) + 1), counts)
    positions = torch.cat([torch.arange(n) for n in counts])
    pad = torch.nn.functional.pad
    at = Layout(*(pad(x, (0, 300 - len(x)))[None].repeat(2, 1) for x in (positions, segments)))
    _compared(Sight(Visible() & pattern, *[at.looked_at().to("cuda")] * 2), width, dtype)
    source = ragged([200, 77]).to("cuda")
    target = ragged([31, 120]).to("cuda")
    _compared(Sight(Visible(), target, source), width, dtype)


def _compared(sight: Sight, width: int, dtype: torch.dtype) -> None:
    sizes = [x.positions.shape[1] for x in (sight.q, sight.k, sight.k, sight.q)]
    real = sight.q.real[:, None, :, None]
    q, k, v, back = (
        torch.randn(2, n, 3, width, device="cuda").to(dtype).transpose(1, 2) for n in sizes
    )
    inputs = [x.requires_grad_() for x in (q, k, v)]
    found, again = (
        [out := spanned(*inputs, sight), *torch.autograd.grad(out, inputs, back * real)]
        for _ in range(2)
    )
    assert all(map(torch.equal, found, again))
    exact = [x.detach().double().requires_grad_() for x in inputs]
    wanted = dense(*exact, sight)
    slopes = torch.autograd.grad(wanted, exact, back.double() * real)
    hidden = [real, real, *[sight.k.real[:, None, :, None]] * 2]
    for one, other, there in zip(found, (wanted, *slopes), hidden, strict=True):
        one, other = one.detach().double() * there, other.detach() * there
        far = float((one - other).norm() / other.norm())
        assert far < (2e-2 if dtype == torch.bfloat16 else 1e-4)

"""The kernels of a step give what plain attention and norms give: by Triton's interpreter, or on a
GPU where there is one."""

import pytest

from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.patterns import Causal, Full

CHECKS = """
import sys
import torch
from torch import nn
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.step import TUNING, add_norm, read_source, read_traced
from heedful.nn.layout import Layout
from heedful.nn.patterns import Visible
from heedful.nn.sight import Sight
from heedful.nn.slate import traced

device = sys.argv[1]
TUNING.block = 16
f32, bf16 = torch.float32, torch.bfloat16

def near(found, wanted, dtype, *what):
    far_off = float((found.double() - wanted).abs().max())
    assert far_off < (2e-2 if dtype == bf16 else 5e-6), (far_off, dtype, *what)

def at(segments):
    return Layout(torch.zeros_like(segments), segments)

def drawn(dtype, *shape):
    return torch.randn(shape, device=device).to(dtype)

def steps(rows, heads, lent, width, length, place, dtype):
    torch.manual_seed(place)
    few = heads // lent
    new = [drawn(dtype, rows, 1, n * width).view(rows, n, 1, width) for n in (heads, few, few)]
    k, v = (drawn(dtype, rows, few, length, width) for _ in range(2))
    segments = torch.randint(0, 2, (rows, length), device=device)
    trace = torch.randint(0, rows, (rows, length), device=device).int()
    own = torch.ones(rows, 1, dtype=torch.long, device=device)
    inputs = [x.clone() for x in (k, v, segments)]
    at_place = torch.tensor([place], device=device)
    found = read_traced(tuple(new), k, v, (own, segments), trace, at_place)
    trace[:, place] = torch.arange(rows, device=device)
    for store, x, dim in zip(inputs, (*new[1:], own), (2, 2, 1)):
        store.index_copy_(dim, at_place, x)
    assert torch.equal(k, inputs[0]) and torch.equal(v, inputs[1])  # written there and only there
    seen = [traced(x, dim, trace).narrow(dim, 0, place + 1) for x, dim in zip(inputs, (2, 2, 1))]
    sight = Sight(Visible(), at(own), at(seen[2]))
    wanted = dense(new[0].double(), seen[0].double(), seen[1].double(), sight)
    near(found, wanted.transpose(1, 2).flatten(2), dtype, "steps", place)

def sources(rows, together, heads, lent, width, length, dtype):
    torch.manual_seed(length)
    few = heads // lent
    q = drawn(dtype, rows * together, 1, heads * width).view(-1, heads, 1, width)
    k, v = (drawn(dtype, rows, few, length, width) for _ in range(2))
    segments = torch.randint(0, 2, (rows, length), device=device)
    segments[0] = 0  # nothing to be seen
    own = torch.ones(rows * together, 1, dtype=torch.long, device=device)
    found = read_source(q, k, v, (own, segments))
    k, v, segments = (x.repeat_interleave(together, 0) for x in (k, v, segments))
    wanted = dense(q.double(), k.double(), v.double(), Sight(Visible(), at(own), at(segments)))
    near(found, wanted.transpose(1, 2).flatten(2), dtype, "sources")

def norms(rows, width, dtype):
    norm = nn.LayerNorm(width, eps=1e-6, device=device, dtype=dtype)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x, y = drawn(dtype, rows, 1, width), drawn(dtype, rows, 1, width)
    with torch.no_grad():
        total, normed = add_norm(x, y, norm)
        near(total / 2, (x.double() + y.double()) / 2, dtype, "sums")
        near(normed / 8, norm.double()(total.double()) / 8, dtype, "norms")

with torch.no_grad():
    for place in (0, 1, 16, 19):
        steps(3, 2, 1, 32, 20, place, f32)
    steps(2, 4, 2, 40, 32, 31, f32)
    steps(2, 1, 1, 64, 48, 33, bf16)
    sources(2, 3, 2, 1, 32, 21, f32)
    sources(2, 1, 4, 4, 24, 16, f32)
    sources(2, 2, 1, 1, 64, 33, bf16)
norms(3, 32, f32)
norms(2, 72, f32)
norms(2, 64, bf16)
"""

DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.gpu),
]


@pytest.mark.parametrize("device", DEVICES)
def test_steps_read_what_plain_attention_reads(device: str, by_kernels) -> None:
    by_kernels(CHECKS, device)


@pytest.mark.parametrize(
    ("settings", "plain"),
    [
        ({}, True),
        ({"turn": "rotary"}, True),
        ({"kv_heads": 1}, True),
        ({"pattern": "near:3"}, False),
        ({"bias": "alibi"}, False),
        ({"pool": "strided:3"}, False),
        ({"kernel": "dense"}, False),
    ],
    ids=str,
)
def test_only_the_usual_attention_is_plain(settings, plain: bool) -> None:
    def made(reads: bool = False, **more) -> Attention:
        pattern = Full() if reads else Causal()
        return Attention(32, 2, pattern=pattern, reads=reads, config=AttentionConfig(**more))

    assert made(**settings).eval().plain is plain
    assert not made(**settings).train().plain
    assert made(reads=True).eval().plain

"""The kernel for spans gives what `dense` gives: interpreted, and on a GPU."""

import os
import subprocess
import sys

import pytest
import torch

from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.spanned import refusal, spanned
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.patterns import Causal, Dilated, Full, InBlocks, Near, Pattern, Visible
from heedful.nn.sight import Sight

INTERPRETED = """
import torch
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.spanned import spanned
from heedful.nn.kernels.spans_op import TUNING, Tiles
from heedful.nn.layout import Layout, line, ragged
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
    "near": (Causal() & Near(9), few, None, 1, 32, f32),
    "near_on_both_sides": (Near(12, 4), ragged([60, 21]), None, 1, 32, f32),
    "in_blocks": (InBlocks(8), few, None, 1, 16, f32),
    "bf16": (Causal(), few, None, 2, 64, bf16),
    "wide": (Full(), few, None, 1, 128, f32),
}

def check(name, few_keys=False):
    pattern, at, source, heads, width, dtype = CASES[name]
    torch.manual_seed(0)
    TUNING.forward, TUNING.queries = Tiles(32, 32, 4, 1), Tiles(64, 32, 4, 1)
    TUNING.keys = Tiles(32, 64, 4, 1)
    at, source = at, at if source is None else source
    (batch, queries), keys = at.positions.shape, source.positions.shape[1]

    def some(length, heads):  # as a projection leaves it
        x = torch.randn(batch, length, heads, width).to(dtype)
        return x.transpose(1, 2).requires_grad_()

    q, (k, v) = some(queries, heads), (some(keys, 1 if few_keys else heads) for _ in range(2))
    sight = Sight(Visible() & pattern, at, source)
    out = spanned(q, k, v, sight)
    assert out.dtype == dtype and out.stride() == q.stride()
    back = torch.randn(out.shape).to(dtype) * at.real[:, None, :, None]
    found = torch.autograd.grad(out, [q, k, v], back)
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

# By name it computes whole rows, and steps as the others do.
torch.manual_seed(0)
part = Attention(64, 2, pattern=Causal(), config=AttentionConfig(kernel="spans")).eval()
plain = Attention(64, 2, pattern=Causal(), config=AttentionConfig(kernel="dense")).eval()
plain.load_state_dict(part.state_dict())
x = torch.randn(1, 70, 64)
torch.testing.assert_close(part(x, few)[few.real], plain(x, few)[few.real], atol=1e-5, rtol=1e-4)
assert few.seen["sights"][0]._spans is not None
"""


def test_outputs_and_gradients_are_those_of_dense() -> None:
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-c", INTERPRETED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
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
    out = spanned(*inputs, sight)
    found = [out, *torch.autograd.grad(out, inputs, back * real)]
    exact = [x.detach().double().requires_grad_() for x in inputs]
    wanted = dense(*exact, sight)
    slopes = torch.autograd.grad(wanted, exact, back.double() * real)
    hidden = [real, real, *[sight.k.real[:, None, :, None]] * 2]
    for one, other, there in zip(found, (wanted, *slopes), hidden, strict=True):
        far = float(((one.double() - other) * there).norm() / (other * there).norm())
        assert far < (2e-2 if dtype == torch.bfloat16 else 1e-4)

"""The kernel for relative positions gives what `dense` gives: interpreted, and on a GPU."""

import pytest
import torch

from heedful.errors import UsageError
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.relative import along, refusal, relative
from heedful.nn.layout import line, ragged
from heedful.nn.memory import Memory
from heedful.nn.patterns import Causal, Dilated, Full, InBlocks, Near, Pattern, Visible, terms
from heedful.nn.relative import Shaw, ShawKeys, Skew
from heedful.nn.sight import Sight

INTERPRETED = """
import torch
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.kernels.dense import dense, shared
from heedful.nn.kernels.relative import refusal, relative
from heedful.nn.kernels.relative_op import TUNING, Tiles
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.patterns import Causal, Full, InBlocks, Near, Visible
from heedful.nn.relative import ShawKeys, Skew
from heedful.nn.sight import Sight

def packed(*lengths, length):
    positions = torch.cat([torch.arange(n) for n in lengths])
    segments = torch.cat([torch.full((n,), i + 1) for i, n in enumerate(lengths)])
    gap = (0, length - len(positions))
    pad = torch.nn.functional.pad
    return Layout(pad(positions, gap)[None], pad(segments, gap)[None])

def in_two_pieces():
    return Layout(
        torch.tensor([[0, 1, 2, 0, 1, 0, 3, 4, 5, 2, 3] + [0] * 6]),
        torch.tensor([[1, 1, 1, 2, 2, 0, 1, 1, 1, 2, 2] + [0] * 6]),
    )

f32, bf16 = torch.float32, torch.bfloat16
CASES = {
    "causal": (Skew, 64, True, line(40, batch=1), 2, 32, f32),
    "two_sided": (Skew, 64, False, line(40, batch=1), 2, 32, f32),
    "none_beyond": (Skew, 9, True, line(50, batch=1), 1, 32, f32),
    "none_beyond_on_both_sides": (Skew, 5, False, line(56, batch=1), 1, 32, f32),
    "clipped": (ShawKeys, 7, True, line(50, batch=1), 1, 32, f32),
    "clipped_on_both_sides": (ShawKeys, 3, False, line(56, batch=1), 1, 32, f32),
    "clipped_to_one": (ShawKeys, 0, False, line(33, batch=1), 1, 32, f32),
    "clipped_at_a_tile": (ShawKeys, 16, False, line(64, batch=1), 1, 32, f32),
    "padded": (ShawKeys, 7, False, ragged([33, 0]), 1, 32, f32),
    "packed": (Skew, 12, True, packed(19, 7, 11, length=40), 2, 32, f32),
    "packed_two_sided": (ShawKeys, 6, False, packed(3, 30, 2, length=37), 1, 32, f32),
    "in_two_pieces": (ShawKeys, 2, True, in_two_pieces(), 1, 32, f32),
    "width_40": (Skew, 20, True, line(20, batch=1), 1, 40, f32),
    "width_128": (ShawKeys, 5, False, line(20, batch=1), 1, 128, f32),
    "bf16": (Skew, 40, True, line(40, batch=1), 1, 64, bf16),
    "bf16_clipped": (ShawKeys, 4, False, line(40, batch=1), 1, 64, bf16),
    "near": (Skew, 12, True, line(70, batch=1), 1, 32, f32, Near(20)),
    "near_on_both_sides": (ShawKeys, 5, False, ragged([70, 41]), 1, 32, f32, Near(17, 3)),
    "in_blocks": (Skew, 40, True, packed(50, 9, 21, length=84), 1, 32, f32, InBlocks(20)),
    "in_blocks_two_sided": (Skew, 9, False, line(70, 7, batch=1), 1, 32, f32, InBlocks(16, 1)),
    "in_blocks_in_two_pieces": (ShawKeys, 2, True, in_two_pieces(), 1, 32, f32, InBlocks(2)),
}

def check(name, shared_rows, few_keys):
    kind, far, causal, at, heads, width, dtype, *windows = CASES[name]
    torch.manual_seed(0)
    TUNING.forward = TUNING.queries = TUNING.keys = Tiles(16, 4, 1)
    bias = kind(heads, width, causal, far, shared_rows)
    torch.nn.init.normal_(bias.keys.rows)
    shape = (*at.positions.shape, width)
    q = torch.randn(shape[0], heads, *shape[1:]).to(dtype).requires_grad_()
    kv = [
        torch.randn(shape[0], 1 if few_keys else heads, *shape[1:]).to(dtype).requires_grad_()
        for _ in range(2)
    ]
    pattern = Visible() & (Causal() if causal else Full())
    for window in windows:
        pattern = pattern & window
    sight = Sight(pattern, at, at)
    assert not refusal(q, sight, bias, 0.0)
    out = relative(q, *kv, sight, bias)
    assert out.dtype == dtype
    back = torch.randn(out.shape).to(dtype) * at.real[:, None, :, None]
    found = torch.autograd.grad(out, [q, *kv, bias.keys.rows], back)

    exact = kind(heads, width, causal, far, shared_rows).double()
    with torch.no_grad():
        exact.keys.rows.copy_(bias.keys.rows.to(dtype))
    inputs = [x.detach().double().requires_grad_() for x in (q, *kv)]
    wanted = dense(*inputs, sight, exact(inputs[0], at, at))
    slopes = torch.autograd.grad(wanted, [*inputs, exact.keys.rows], back.double())
    near = 2e-2 if dtype == bf16 else 2e-5
    wanted = wanted * at.real[:, None, :, None]
    for what, one, other in zip("out q k v rows".split(), (out, *found), (wanted, *slopes)):
        one, other = one.detach().double(), other.detach()
        far_off = float((one - other).norm() / other.norm().clamp(min=1))
        assert far_off < near, (name, what, far_off)

for name in CASES:
    check(name, 0, False)
check("causal", 1, True)

# By itself it is chosen where it can do the work, and else not.
for bias, chosen in (("skew:9", True), ("shaw:9", False)):
    torch.manual_seed(0)
    part = Attention(64, 2, pattern=Causal(), config=AttentionConfig(bias=bias)).eval()
    torch.nn.init.normal_(part.bias.keys.rows)
    plain = Attention(64, 2, pattern=Causal(), config=AttentionConfig(bias=bias, kernel="dense"))
    plain.load_state_dict(part.state_dict())
    x, at = torch.randn(1, 12, 64), line(12)
    torch.testing.assert_close(part(x, at), plain.eval()(x, line(12)), atol=1e-5, rtol=1e-4)
    assert (at.seen["sights"][0]._spans is not None) == chosen, bias
"""


def test_outputs_and_gradients_are_those_of_dense(by_kernels) -> None:
    by_kernels(INTERPRETED)


STRIDED = """
import torch
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.relative import relative
from heedful.nn.kernels.relative_op import TUNING, Tiles
from heedful.nn.layout import ragged
from heedful.nn.patterns import Full, Visible
from heedful.nn.relative import ShawKeys
from heedful.nn.sight import Sight

TUNING.forward = TUNING.queries = TUNING.keys = Tiles(16, 4, 1)
launched, wrap = {}, torch.library.wrap_triton

def noted(kernel):
    def start(grid):
        def launch(*given, **constants):
            launched[kernel.fn.__name__] = dict(zip(kernel.arg_names, given))
            return wrap(kernel)[grid](*given, **constants)
        return launch
    return type("Noted", (), {"__getitem__": lambda _, grid: start(grid)})()

torch.library.wrap_triton = noted
at = ragged([37, 20])
sight = Sight(Visible() & Full(), at, at)
bias = ShawKeys(2, 40, False, 5)
torch.nn.init.normal_(bias.keys.rows)

def heads(made):  # B L 3 H E, as a projection makes it, or B L H E 3
    made = made if made.shape[4] == 40 else made.movedim(4, 2)
    return [x.transpose(1, 2) for x in made.unbind(2)]

def check(made, back):
    made = made.requires_grad_()
    q, k, v = heads(made)
    out = relative(q, k, v, sight, bias).transpose(1, 2).flatten(2)
    found = (out, *torch.autograd.grad(out, [made, bias.keys.rows], back))
    exact, again = ShawKeys(2, 40, False, 5).double(), made.detach().double().requires_grad_()
    exact.load_state_dict(bias.state_dict())
    inputs = heads(again)
    wanted = dense(*inputs, sight, exact(inputs[0], at, at)).transpose(1, 2).flatten(2)
    wanted = wanted * at.real[..., None]
    slopes = torch.autograd.grad(wanted, [again, exact.keys.rows], back.double())
    for one, other in zip(found, (wanted, *slopes), strict=True):
        torch.testing.assert_close(one.double(), other, atol=1e-5, rtol=1e-4)
    return q, k, v, out

back = torch.randn(2, 37, 80) * at.real[..., None]
q, k, v, out = check(torch.randn(2, 37, 3, 2, 40), back)
assert not any(x.is_contiguous() for x in (q, k, v))
used = {"q_ptr": q, "k_ptr": k, "v_ptr": v, "out_ptr": out, "dout_ptr": back}
for kernel in ("forward", "queries", "keys"):
    own = [name for name in used if name in launched[kernel]]
    assert len(own) == {"forward": 4, "queries": 5, "keys": 4}[kernel], own
    for name in own:
        assert launched[kernel][name].data_ptr() == used[name].data_ptr(), (kernel, name)

# Channels that are apart are brought together, and so is a gradient that is one number.
q, k, v, out = check(torch.randn(2, 37, 2, 40, 3), back)
assert launched["forward"]["q_ptr"].data_ptr() != q.data_ptr()
check(torch.randn(2, 37, 3, 2, 40), at.real[..., None].float().expand(2, 37, 80))
"""


def test_heads_of_one_projection_are_read_where_they_lie(by_kernels) -> None:
    by_kernels(STRIDED)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"kind": Shaw}, "no vectors for values"),
        ({"dropout": 0.1}, "no dropout of weights, and attention_dropout is 0.1"),
        ({"keys": line(20)}, "whole rows only"),
        ({"pattern": Visible() & Dilated(3)}, "no pattern Dilated"),
        ({"width": 16}, "heads of 32 to 128 channels, and these have 16"),
        ({"dtype": torch.float64}, "float32 and bfloat16, and this is torch.float64"),
        ({}, "needs a GPU, and this is a cpu"),
    ],
    ids=lambda x: next(iter(x), "nothing") if isinstance(x, dict) else "",
)
def test_what_it_cannot_do_is_refused_in_words(asked, why, monkeypatch) -> None:
    pytest.importorskip("triton")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    at, width = line(20), asked.get("width", 32)
    q = torch.randn(1, 2, 20, width, dtype=asked.get("dtype", torch.float32))
    bias = asked.get("kind", ShawKeys)(2, width, True, 4)
    sight = Sight(asked.get("pattern", Visible() & Causal()), at, asked.get("keys", at))
    assert why in refusal(q, sight, bias, asked.get("dropout", 0.0))


def test_by_name_it_is_used_or_refused_and_steps_are_plain() -> None:
    config = AttentionConfig(bias="skew:9", kernel="relative")
    part = Attention(64, 2, pattern=Causal(), config=config).eval()
    x = torch.randn(1, 4, 64)
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match=r"'relative' needs .*Use kernel=auto"):
            part(x, line(4))
    memory = Memory()
    steps = [part(x[:, i : i + 1], line(1, i), memory=memory) for i in range(4)]
    usual = Attention(64, 2, pattern=Causal(), config=AttentionConfig(bias="skew:9")).eval()
    usual.load_state_dict(part.state_dict())
    torch.testing.assert_close(torch.cat(steps, 1), usual(x, line(4)))
    for bias in ("none", "alibi"):
        with pytest.raises(UsageError, match=f"the bias is {bias}.*skew:N"):
            Attention(64, 2, pattern=Full(), config=AttentionConfig(bias=bias, kernel="relative"))


def test_tokens_are_put_in_order_and_back() -> None:
    x, order = torch.randn(1, 2, 6, 3), torch.tensor([[1, 5, 0, 2, 4, 3]])
    assert torch.equal(along(x, order)[:, :, 1], x[:, :, 5])
    assert torch.equal(along(along(x, order), order.argsort(1)), x)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("width", [32, 40, 64, 128])
@pytest.mark.parametrize(
    ("kind", "causal"), [(Skew, True), (Skew, False), (ShawKeys, True), (ShawKeys, False)]
)
def test_on_a_gpu_it_gives_what_dense_gives(kind, causal, width, dtype) -> None:
    _compared_on_a_gpu(kind, Causal() if causal else Full(), width, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("window", [Near(90), Near(70, 20), InBlocks(64)], ids=str)
def test_on_a_gpu_windows_are_those_of_dense(window) -> None:
    _compared_on_a_gpu(Skew, Causal() & window, 64, torch.bfloat16)
    _compared_on_a_gpu(ShawKeys, window, 64, torch.bfloat16)


def _compared_on_a_gpu(kind: type, pattern: Pattern, width: int, dtype: torch.dtype) -> None:
    causal = Causal() in terms(pattern)
    torch.manual_seed(0)
    at = ragged([300, 190]).to("cuda")
    bias = kind(2, width, causal, 100).cuda()
    made = torch.randn(2, 300, 4, 2, width, device="cuda").to(dtype)  # as of one projection
    q, k, v, back = (x.transpose(1, 2) for x in made.unbind(2))
    back = back * at.real[:, None, :, None]
    inputs = [x.requires_grad_() for x in (q, k, v)]
    sight = Sight(Visible() & pattern, at, at)
    found, again = (
        [
            out := relative(q, k, v, sight, bias),
            *torch.autograd.grad(out, [*inputs, bias.keys.rows], back),
        ]
        for _ in range(2)
    )
    # Of the vectors' gradients programs add up their shares in any order; all else is the same.
    assert all(map(torch.equal, found[:4], again[:4]))
    exact = [x.detach().double().requires_grad_() for x in inputs]
    bias.double()
    wanted = dense(*exact, sight, bias(exact[0], at, at)) * at.real[:, None, :, None]
    slopes = torch.autograd.grad(wanted, [*exact, bias.keys.rows], back.double())
    for one, other in zip(found, (wanted, *slopes), strict=True):
        far = ((one.double() - other).norm() / other.norm()).item()
        assert far < (2e-2 if dtype == torch.bfloat16 else 1e-4)

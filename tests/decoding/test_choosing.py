"""The kernels of a turn do what beam.py does with the same logits: by Triton's interpreter, or on a
GPU where there is one."""

import pytest

CHECKS = """
import sys
from dataclasses import replace
import torch
from heedful.data.batch import Batch
from heedful.decoding.beam import begin, choice
from heedful.decoding.choosing import Chooser
from heedful.decoding.prefix import Prefix
from heedful.decoding.recorded_beam import NONE
from heedful.decoding.scores import NEVER
from heedful.nn.slate import mapped
from heedful.presets.base import Decode
from heedful.text.specials import EOS

device = sys.argv[1]

def search(beam, nbest, size, alpha, dtype, seed, limits, equals=False, ends=1.0, words=None):
    torch.manual_seed(seed)
    config, rows = Decode(beam=beam, nbest=nbest, alpha=alpha), len(limits)

    def logits(width):
        x = 2 * torch.randn(rows * width, size, device=device)
        x = x.round() if equals else x
        x[:, EOS] += ends
        if words is not None:
            x[:, words:] = NEVER
        return x.to(dtype)

    plain = begin(Batch({}), limits, Prefix.of(None, rows, device), config, max(limits) + 2)
    while plain.tokens.shape[1] < beam:
        plain, *_ = choice(logits(plain.tokens.shape[1]), plain, config)
    step = torch.tensor([int(plain.step)], device=device)
    ours = mapped(torch.clone, replace(plain, step=step))
    order = torch.zeros(rows * beam, dtype=torch.long, device=device)
    done = torch.zeros(rows, dtype=torch.bool, device=device)
    failed = torch.full((rows,), NONE, device=device)
    choose = Chooser(ours, order, done, failed, config)
    first = torch.arange(rows, device=device)[:, None] * beam
    while int(plain.step) <= max(limits):
        x = logits(beam)
        plain, parents, over, _ = choice(x.clone(), plain, config)
        choose(x)
        assert torch.equal(done, over)
        assert (failed == NONE).all()
        live, there = plain.growing.total > NEVER, plain.finished.score > NEVER
        assert torch.equal(live, ours.growing.total > NEVER)
        assert torch.equal(there, ours.finished.score > NEVER)
        assert torch.equal(parents[live], (order.view(rows, beam) - first)[live])
        assert torch.equal(plain.tokens[live], ours.tokens[live])
        for one, other, mask in ((plain.growing, ours.growing, live),
                                 (plain.finished, ours.finished, there)):
            for name, tensor in vars(one).items():
                if tensor is not None:
                    found = vars(other)[name][mask]
                    torch.testing.assert_close(found, tensor[mask], atol=1e-5, rtol=1e-6)
        assert int(ours.step) == int(plain.step)

def failing():
    config = Decode(beam=2)
    state = begin(Batch({}), [5, 5, 5], Prefix.of(None, 3, device), config)
    state, *_ = choice(torch.randn(3, 9, device=device), state, config)
    state.growing.total[1, 1] = NEVER  # there is no such hypothesis, and it may say what it will
    ours = mapped(torch.clone, replace(state, step=torch.tensor([1], device=device)))
    told = [torch.zeros(n, dtype=d, device=device) for n, d in ((6, torch.long), (3, torch.bool))]
    failed = torch.full((3,), NONE, device=device)
    choose = Chooser(ours, *told, failed, config)
    for value, place in ((float("nan"), 3), (float("inf"), 5), (float("nan"), 4)):
        x = torch.randn(6, 9, device=device)
        x[place, 4] = value
        choose(x)
    assert failed.tolist() == [NONE, NONE, 2], failed

f32, bf16 = torch.float32, torch.bfloat16
with torch.inference_mode():
    search(4, 1, 300, 0.6, f32, 0, [3, 5])
    search(3, 3, 11, 0.0, f32, 1, [4, 6], equals=True)
    search(3, 2, 150, 1.5, f32, 2, [5, 4], ends=9.0)
    search(1, 1, 131, 1.0, f32, 3, [5, 3], ends=2.0)
    search(2, 2, 200, -0.5, bf16, 4, [5, 4], equals=True)
    search(4, 4, 70, 0.6, f32, 5, [4, 5], words=4)
    search(1, 1, 4200, 0.0, f32, 6, [2, 3])
    failing()
"""


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param("cuda", marks=pytest.mark.gpu),
    ],
)
def test_turns_go_as_in_plain_search(device: str, by_kernels) -> None:
    by_kernels(CHECKS, device)

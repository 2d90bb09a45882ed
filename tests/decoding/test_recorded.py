"""Recorded steps: what a search finds with them is what it finds without."""

import random

import pytest
import torch
from torch import Tensor, nn

from heedful.data.batch import Batch, pad
from heedful.decoding import choosing, recorded_beam
from heedful.decoding import recorded as room
from heedful.decoding.protocol import RowError
from heedful.decoding.recorded import Recorded, by_quarters, source_room
from heedful.decoding.search import decode
from heedful.models.building import build
from heedful.nn.kernels import step
from heedful.nn.losses import Smoothing
from heedful.nn.memory import Memory
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS

SIZE = 11
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.gpu),
]


def model(preset: str = "transformer_tiny", device: str = "cpu", **settings):
    torch.manual_seed(5)
    config = presets.get(preset)().model
    made = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    for weights in made.parameters():
        weights.data.mul_(2.0)  # so that what it says is not the same everywhere
    return made.to(device, torch.double).eval()


def sources(count: int, device: str, seed: int = 0) -> Batch:
    rng = random.Random(seed)
    lines = [
        [*(rng.randrange(3, SIZE) for _ in range(rng.randint(0, 9))), EOS] for _ in range(count)
    ]
    return Batch({"inputs": pad(lines)}).to(device)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few tokens and rows go through several shapes."""
    monkeypatch.setattr(room, "SOURCE", 16)
    monkeypatch.setattr(room, "OUTPUT", 4)
    monkeypatch.setattr(room, "FEWEST", 2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "preset", ["transformer_tiny", "transformer_lm_tiny", "rnn_search_tiny", "gnmt_tiny"]
)
@pytest.mark.parametrize(
    "config",
    [
        Decode(beam=3, nbest=2, extra_length=20),
        Decode(beam=1, extra_length=20),
        Decode(sample=True, nbest=2, extra_length=20),
        Decode(beam=2, coverage=0.2, extra_length=8),
        Decode(beam=3, nbest=2, prune=2.0, extra_length=20),
    ],
    ids=["beam", "greedy", "sample", "coverage", "prune"],
)
def test_searches_find_the_same_with_recorded_steps(
    device: str, preset: str, config: Decode
) -> None:
    if config.coverage and "lm" in preset:
        pytest.skip("has no source to cover")
    plain = model(preset, device)
    taped = Recorded(plain)
    for seed in range(3):  # of the same shapes again: what was left on the slates must not be seen
        batch = sources(13, device, seed)
        one = decode(plain, batch, config)
        other = decode(plain, batch, config, recorded=taped)
        assert [[h.ids for h in row] for row in one] == [[h.ids for h in row] for row in other]
        for ours, theirs in zip(sum(one, []), sum(other, []), strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1e-5)
    assert bool(taped.tapes) is not bool(config.coverage)
    assert config.coverage or len(taped.tapes) > 2  # of several rooms, and numbers of rows


BY_KERNELS = """
import random
import sys
from dataclasses import replace
import torch
from heedful.data.batch import Batch, pad
from heedful.decoding import recorded as room
from heedful.decoding.recorded import Recorded
from heedful.decoding.search import decode
from heedful.models.building import build
from heedful.nn.attention import AttentionConfig
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS

device, many, size = sys.argv[1], sys.argv[1] == "cuda", 11
room.OUTPUT, room.FEWEST = 4, 2

def check(preset, config, traced=True, **settings):
    torch.manual_seed(7)
    made = replace(presets.get(preset)().model, layers=1, heads=2, **settings)
    plain = build(made, {"inputs": size, "targets": size}, True, Smoothing()).to(device).eval()
    for weights in plain.parameters():
        weights.data.mul_(3.0)  # so that what came before matters, and beams change places
    taped, rng = Recorded(plain), random.Random(3)
    for _ in range(3 if many else 1):
        lengths = [rng.randint(0, 4) for _ in range(13 if many else 3)]
        lines = [[*(rng.randrange(3, size) for _ in range(n)), EOS] for n in lengths]
        batch = Batch({"inputs": pad(lines)}).to(device)
        one, other = decode(plain, batch, config), decode(plain, batch, config, recorded=taped)
        assert [[h.ids for h in row] for row in one] == [[h.ids for h in row] for row in other]
        for ours, theirs in zip(sum(one, []), sum(other, [])):
            assert abs(ours.score - theirs.score) < 1e-3
    assert taped.tapes
    for tape in taped.tapes.values():
        assert (tape.slate.trace is not None) is traced

beam = Decode(beam=2, nbest=2, extra_length=20 if many else 4)
turned = AttentionConfig(turn="rotary", kv_heads=1)
check("transformer_tiny", beam)
check("transformer_lm_tiny", replace(beam, beam=1, nbest=1))
check("transformer_tiny", replace(beam, sample=True), norm="post", attention=turned)
check("transformer_tiny", beam, traced=False, attention=AttentionConfig(bias="alibi"))
"""


@pytest.mark.parametrize("device", DEVICES)
def test_searches_find_the_same_by_kernels(device: str, by_kernels) -> None:
    by_kernels(BY_KERNELS, device)


def test_kernels_that_fail_when_they_are_tried_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for part in (step, choosing):  # as if there were a GPU, which there is not
        monkeypatch.setattr(part, "nowhere", lambda device: "")
        part.refusal.cache_clear()
    plain, batch = model().float(), sources(5, "cpu")
    assert step.refusal(torch.device("cpu"), torch.float32, 16, 1)
    for config in (Decode(beam=3, extra_length=9), Decode(beam=1, extra_length=9)):
        taped = Recorded(plain)
        one, other = decode(plain, batch, config), decode(plain, batch, config, recorded=taped)
        assert [row[0].ids for row in one] == [row[0].ids for row in other]
        assert all(tape.slate.trace is None for tape in taped.tapes.values())
    for part in (step, choosing):
        part.refusal.cache_clear()


def test_where_kernels_fail_a_search_goes_on_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorded_beam, "trusted", lambda logits, config: True)
    plain, batch, config = model().float(), sources(5, "cpu"), Decode(beam=3, extra_length=9)
    taped = Recorded(plain)
    with pytest.warns(UserWarning, match="the plain way, which is slower"):
        found = decode(plain, batch, config, recorded=taped)  # which needs a GPU
    assert [row[0].ids for row in found] == [row[0].ids for row in decode(plain, batch, config)]
    assert not taped.kernels and taped.tapes


def test_what_fails_on_a_gpu_is_said() -> None:
    with pytest.warns(UserWarning, match="the plain way, which is slower: it does not compute"):
        assert step.tried(lambda: False, torch.device("cuda"))
    assert not step.tried(lambda: True, torch.device("cuda"))


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_begin_with_what_they_must(device: str) -> None:
    plain, batch = model(device=device), sources(9, device)
    config = Decode(beam=3, extra_length=9)
    forced = [[5, 6, 7, 8, 9, 10][:place] for place in (0, 1, 6, 2, 3, 0, 5, 4, 1)]
    one = decode(plain, batch, config, forced)
    other = decode(plain, batch, config, forced, recorded=Recorded(plain))
    assert [row[0].ids for row in one] == [row[0].ids for row in other]
    for row, ids in zip(other, forced, strict=True):
        assert list(row[0].ids[: len(ids)]) == ids


@pytest.mark.parametrize("beam", [1, 3])
def test_a_row_without_numbers_is_named_with_its_step(beam: int) -> None:
    class Failing(nn.Module):
        """Says nothing about the sources that hold a 9, from its seventh step on."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model()
            with torch.no_grad():
                self.model.head.embedding.weight[EOS] = -9.0  # no row ends by itself

        def start(self, batch: Batch) -> Memory:
            memory = self.model.start(batch)
            memory["nine"].keep((batch.inputs.ids == 9).any(1))
            return memory

        def step(self, ids: Tensor, memory: Memory) -> Tensor:
            late = memory["at"].recall(Memory) >= 6
            fails = memory["nine"].recall(Memory) & late
            return self.model.step(ids, memory).masked_fill(fails[:, None, None], float("nan"))

    failing = Failing()
    lines = [[5, EOS], [4, EOS], [9, EOS], [6, EOS]]
    taped, config = Recorded(failing), Decode(beam=beam, extra_length=20)
    with pytest.raises(RowError, match=r"row 2 .* at token 7 "):
        decode(failing, Batch({"inputs": pad(lines)}), config, recorded=taped)
    lines[2] = [7, EOS]
    assert len(decode(failing, Batch({"inputs": pad(lines)}), config, recorded=taped)) == 4


@pytest.mark.parametrize(
    ("done", "stay"),
    [
        ("........", None),
        ("xxxx....", None),
        ("x.xx.xxx", [1, 4]),
        ("xxxxxxxxxxxxxxx.", [12, 13, 14, 15]),
        ("x" * 31 + ".", [30, 31]),
        (".xxxxxxx", [0, 7]),  # no fewer than two: one that is done stays for the number
        ("xx", None),
        ("x.x", None),
    ],
)
def test_rows_leave_by_quarters(done: str, stay: list[int] | None) -> None:
    assert by_quarters([sign == "x" for sign in done]) == stay


def test_room_for_a_source_is_never_half_padding_and_of_few_sizes() -> None:
    rooms = [source_room(length) for length in range(1, 1025)]
    assert sorted(set(rooms))[:9] == [16, 32, 48, 64, 96, 128, 192, 256, 384]
    assert all(length <= room < 2 * length for length, room in enumerate(rooms, 1) if length > 8)
    assert len(set(rooms)) == 12

"""What comes before the recorded turns of a search, recorded too: it finds what a plain one finds,
and holds nothing that cannot be recorded."""

import random
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from heedful.data.batch import Batch, pad
from heedful.decoding import recorded as room
from heedful.decoding import recorded_beam, scores
from heedful.decoding.beam import begin
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Hypothesis, RowError
from heedful.decoding.recorded import Recorded
from heedful.decoding.recorded_beam import Opening, Passage, Turns
from heedful.decoding.scores import ranked
from heedful.decoding.search import decode
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.nn.memory import Memory
from heedful.nn.slate import Slate
from heedful.nn.watching import Glance, watch
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS

SIZE = 11
GPU = pytest.param("cuda", marks=pytest.mark.gpu)


def model(preset: str = "transformer_tiny", device: str = "cpu"):
    torch.manual_seed(5)
    made = build(presets.get(preset)().model, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    for weights in made.parameters():
        weights.data.mul_(2.0)  # so that what it says is not the same everywhere
    return made.to(device, torch.double).eval()


def sources(count: int, device: str, seed: int, longest: int = 9) -> Batch:
    rng = random.Random(seed)
    lengths = [longest, *(rng.randint(0, longest) for _ in range(count - 1))]
    lines = [[*(rng.randrange(3, SIZE) for _ in range(n)), EOS] for n in lengths]
    return Batch({"inputs": pad(lines)}).to(device)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """The batches that searches were opened for by a recording."""
    seen: list[Batch] = []
    call = Opening.__call__

    def noted(self, batch, limits):
        seen.append(batch)
        return call(self, batch, limits)

    monkeypatch.setattr(Opening, "__call__", noted)
    return seen


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("preset", ["transformer_tiny", "transformer_lm_tiny", "gnmt_tiny"])
@pytest.mark.parametrize("beam", [1, 3])
def test_searches_find_the_same_after_a_recorded_opening(
    device: str, preset: str, beam: int, opened: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FEWEST", 2)
    plain = model(preset, device)
    taped, config = Recorded(plain), Decode(beam=beam, nbest=beam, extra_length=24)
    for seed, longest in enumerate((9, 7, 11, 5)):  # all in one room, and short after long
        batch = sources(13, device, seed, longest)
        one = decode(plain, batch, config)
        other = decode(plain, batch, config, recorded=taped)
        assert [[h.ids for h in row] for row in one] == [[h.ids for h in row] for row in other]
        for ours, theirs in zip(sum(one, []), sum(other, []), strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1e-5)
    assert len(opened) == 3


def test_an_opening_changes_nothing_to_the_last_bit(opened: list[Batch]) -> None:
    plain = model().float()
    taped, config = Recorded(plain), Decode(beam=4, nbest=2, extra_length=9)
    for seed in range(3):
        batch = sources(9, "cpu", seed)
        found = decode(plain, batch, config, recorded=taped)
        assert found == decode(plain, batch, config, recorded=Recorded(plain))
    assert len(opened) == 2


def test_rows_may_leave_after_their_first_token(
    opened: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FEWEST", 1)
    plain = model()
    taped, config = Recorded(plain), Decode(beam=2, extra_length=0)
    long = Batch({"inputs": pad([[5, 6, 7, EOS]] * 4)})
    short = Batch({"inputs": pad([[EOS], [EOS], [EOS], [7, 8, 9, EOS]])})
    for batch in (short, short, long, short, long):
        one, other = decode(plain, batch, config), decode(plain, batch, config, recorded=taped)
        assert [row[0].ids for row in one] == [row[0].ids for row in other]
    assert len(opened) == 2  # there is one once all rows went on


def test_each_shape_and_setting_has_its_own_opening(opened: list[Batch]) -> None:
    plain = model()
    taped, config = Recorded(plain), Decode(beam=2, extra_length=4)

    def search(batch: Batch, config: Decode = config, prefix=None) -> list[list[Hypothesis]]:
        found = decode(plain, batch, config, prefix, recorded=taped)
        assert [row[0].ids for row in found] == [
            row[0].ids for row in decode(plain, batch, config, prefix)
        ]
        return found

    for again in range(2):
        search(sources(5, "cpu", 0))
        search(sources(6, "cpu", 0))  # more rows
        search(sources(5, "cpu", 0, longest=50))  # more room for the source
        search(Batch({"inputs": pad([[5] * 31 + [EOS]] * 5)}))  # all full
        search(sources(5, "cpu", 0), Decode(beam=3, extra_length=4))
        search(sources(5, "cpu", 0, longest=20), Decode(beam=2, extra_length=54))
        search(sources(5, "cpu", 0, longest=3), Decode(beam=2, extra_length=54))  # less for outputs
        assert len(opened) == 7 * again
    search(sources(5, "cpu", 0), prefix=[[4]] * 5)
    assert len(opened) == 7


def test_a_file_is_recorded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of many lengths, as a file is cut into: a second time all of it is replayed."""
    plain, made = model(), []
    taped = Recorded(plain)
    make = recorded_beam.Turns.__init__

    def noted(self, *settings) -> None:
        made.append(settings)
        make(self, *settings)

    monkeypatch.setattr(recorded_beam.Turns, "__init__", noted)
    monkeypatch.setattr(room, "FEWEST", 1)
    for _ in range(2):
        made.clear()
        for rows, longest in ((16, 60), (16, 41), (16, 30), (16, 17), (13, 12)):
            batch = sources(rows, "cpu", rows, longest)
            decode(plain, batch, Decode(beam=2, extra_length=50), recorded=taped)
    assert made == []


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("most", [1, 2, 32])
def test_rows_that_stay_go_on_by_a_passage(
    device: str, beam: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of one search after another, of which few tapes are kept or many."""
    monkeypatch.setattr(room, "FEWEST", 1)
    monkeypatch.setattr(room, "MOST", most)
    plain, taken, call = model(device=device), [], Passage.__call__

    def noted(self, memory, places) -> None:
        taken.append(self)
        call(self, memory, places)

    monkeypatch.setattr(Passage, "__call__", noted)
    taped, config = Recorded(plain), Decode(beam=beam, nbest=beam, extra_length=3)
    for seed in range(4):
        batch = Batch(
            {"inputs": pad([[3 + seed, EOS]] * 13 + [[4 + seed] * n for n in (9, 70, 80)])}
        )
        one = decode(plain, batch.to(device), config)
        other = decode(plain, batch.to(device), config, recorded=taped)
        assert [[h.ids for h in row] for row in one] == [[h.ids for h in row] for row in other]
    assert len(taken) >= 4
    if most == 32:
        assert len(set(map(id, taken))) == len(taped.passages) < len(taken)
    if most > 1:  # a passage goes with either of its tapes
        kept = set(map(id, taped.tapes.values()))
        assert all({id(p.here), id(p.to)} <= kept for p in taped.passages.values())


def test_an_opening_goes_with_its_tape(
    opened: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MOST", 1)
    plain = model()
    taped, config = Recorded(plain), Decode(beam=2, extra_length=4)
    for rows in (5, 6, 5, 5):
        decode(plain, sources(rows, "cpu", 0), config, recorded=taped)
    assert [len(batch.inputs.ids) for batch in opened] == [5]
    assert len(taped.tapes) == 1


def test_a_start_that_is_lent_is_called_for_each_search(
    opened: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = model()
    taped, config, lines = Recorded(plain), Decode(beam=2, extra_length=4), []
    decode(plain, sources(4, "cpu", 0), config, recorded=taped)
    start = plain.start

    def listening(batch: Batch) -> Memory:
        lines.append(batch.examples)
        return start(batch)

    monkeypatch.setitem(vars(plain), "start", listening)
    for number in range(3):
        batch = Batch(sources(4, "cpu", 0).features, (number,) * 4)
        decode(plain, batch, config, recorded=taped)
    assert lines == [(0,) * 4, (1,) * 4, (2,) * 4]
    assert not opened  # where it is recorded, nothing is called


def test_what_a_model_fails_at_once_is_said(opened: list[Batch]) -> None:
    class Failing(nn.Module):
        """Says nothing about the sources that hold a 9."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model()

        def start(self, batch: Batch) -> Memory:
            memory = self.model.start(batch)
            memory["nine"].keep((batch.inputs.ids == 9).any(1))
            return memory

        def step(self, ids: Tensor, memory: Memory) -> Tensor:
            fails = memory["nine"].recall(Memory)
            return self.model.step(ids, memory).masked_fill(fails[:, None, None], float("nan"))

    failing = Failing()
    taped, config = Recorded(failing), Decode(beam=2, extra_length=6)
    good, bad = (Batch({"inputs": pad([[5, EOS], [x, EOS], [6, EOS]])}) for x in (7, 9))
    decode(failing, good, config, recorded=taped)
    with pytest.raises(RowError, match=r"row 1 .* at token 1 "):
        decode(failing, bad, config, recorded=taped)
    assert len(decode(failing, good, config, recorded=taped)) == 3
    assert len(opened) == 2


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_weights_that_were_put_elsewhere_are_found(device: str, opened: list[Batch]) -> None:
    plain = model(device=device).float()
    taped, config = Recorded(plain), Decode(beam=2, nbest=2, extra_length=4)
    batch = sources(4, device, 0)

    def ids(recorded: Recorded | None) -> list[list[tuple[int, ...]]]:
        found = decode(plain, batch, config, recorded=recorded)
        return [[hypothesis.ids for hypothesis in row] for row in found]

    for _ in range(3):
        ids(taped)
    plain.double()  # elsewhere, and of another size
    assert ids(taped) == ids(None)
    before, others = len(opened), {name: -x for name, x in plain.state_dict().items()}
    wanted = ids(taped)
    plain.load_state_dict(others, assign=True)
    assert ids(taped) == ids(None) != wanted
    assert (before, len(opened)) == (2, 3)  # each begins anew


def test_whoever_watches_a_search_sees_all_of_it(opened: list[Batch]) -> None:
    plain = model()
    taped, config, batch = Recorded(plain), Decode(beam=2, extra_length=4), sources(4, "cpu", 0)
    unseen = [decode(plain, batch, config, recorded=taped) for _ in range(3)][-1]
    heard: dict[bool, list[str]] = {}
    for recorded in (True, False):
        glances: list[Glance] = []
        with watch(plain, tell=glances.append):
            found = decode(plain, batch, config, recorded=taped if recorded else None)
        heard[recorded] = [glance.name for glance in glances]
        assert [row[0].ids for row in found] == [row[0].ids for row in unseen]
    assert heard[True] == heard[False] and any("encoder" in name for name in heard[True])
    assert len(opened) == 2


@pytest.mark.parametrize("preset", ["transformer_tiny", "gnmt_tiny"])
def test_a_turn_that_broke_off_leaves_nothing_behind(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does that cannot be recorded, which is then done."""
    plain, config, batch = model(preset), Decode(beam=2, extra_length=9), sources(4, "cpu", 0)
    wanted, turn, broken = decode(plain, batch, config), Turns.turn, []

    def breaks_off(*_) -> None:
        raise RuntimeError("broke off")

    def twice(self: Turns) -> None:
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="broke off"):
            patch.setattr(recorded_beam, "choice", breaks_off)
            turn(self)
        broken.append(self)
        turn(self)

    monkeypatch.setattr(Turns, "turn", twice)
    found = decode(plain, batch, config, recorded=Recorded(plain))
    assert broken and [row[0].ids for row in found] == [row[0].ids for row in wanted]


@pytest.mark.parametrize("device", [GPU])
def test_what_cannot_be_recorded_is_done_each_time_and_said(device: str) -> None:
    class Waiting(nn.Module):
        """Looks at the source from the host."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model(device=device)

        def start(self, batch: Batch) -> Memory:
            assert int(batch.inputs.ids.max()) < SIZE
            return self.model.start(batch)

        def step(self, ids: Tensor, memory: Memory) -> Tensor:
            return self.model.step(ids, memory)

    waiting = Waiting()
    taped, config = Recorded(waiting), Decode(beam=2, extra_length=4)
    for seed in range(5):
        batch = sources(4, device, seed)
        wanted = decode(waiting, batch, config)
        with pytest.warns(UserWarning, match="slower") if seed == 2 else nullcontext():
            found = decode(waiting, batch, config, recorded=taped)
        assert [row[0].ids for row in found] == [row[0].ids for row in wanted]


class Unrecordable(TorchDispatchMode):
    """Notes what reads or writes the memory of the host, which a recording would not do again."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if any(isinstance(x, Tensor) and x.device.type == "cpu" for x in (*args, made)):
            self.found.append(str(func))
        return made


@pytest.mark.parametrize(
    "preset", ["transformer_tiny", "transformer_lm_tiny", "rnn_search_tiny", "gnmt_tiny"]
)
def test_an_opening_neither_waits_for_a_device_nor_needs_the_host(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a device that has no numbers: whoever waits for one fails."""
    monkeypatch.setattr(scores, "top", ranked)  # as on a GPU
    device, limits, config = "meta", [9, 9, 9], Decode(beam=3)
    taped = Recorded(model(preset, device), kernels=False)
    batch = Batch({"inputs": pad([[5, 6, 7, EOS]] * 3)}).to(device)
    with torch.inference_mode():
        memory = taped.start(batch)
        state = begin(batch, limits, Prefix.of(None, 3, device), config, room=32)
        state, *_ = recorded_beam._plain(taped, memory, state, config)
        tape = Turns(taped, memory, state, config)
        opening = Opening(taped, tape, batch, room=32)
        with Unrecordable() as host:
            opening.work()
            tape.turn()
    assert host.found == []


@pytest.mark.parametrize("beam", [1, 3])
def test_where_one_hypothesis_grows_no_row_is_moved(
    beam: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[Tensor | None] = []
    advance = Slate.advance

    def noted(self: Slate, rows: Tensor | None = None) -> None:
        orders.append(rows)
        advance(self, rows)

    monkeypatch.setattr(Slate, "advance", noted)
    plain = model()
    decode(plain, sources(2, "cpu", 0), Decode(beam=beam), recorded=Recorded(plain))
    assert orders
    assert {rows is None for rows in orders} == {beam == 1}


BY_KERNELS = """
import sys
from dataclasses import replace
import torch
from heedful.data.batch import Batch, pad
from heedful.decoding.recorded import Recorded
from heedful.decoding.search import decode
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS

device, size = sys.argv[1], 11
torch.manual_seed(7)
made = replace(presets.get("transformer_tiny")().model, layers=1, heads=2)
plain = build(made, {"inputs": size, "targets": size}, True, Smoothing()).to(device).eval()
for weights in plain.parameters():
    weights.data.mul_(3.0)  # so that what came before matters, and beams change places
taped, config = Recorded(plain), Decode(beam=2, nbest=2, extra_length=2)
for lines in ([[5, 6, 7, EOS], [8, EOS]], [[9, EOS], [3, 4, 5, 9, EOS]], [[6, 6, EOS], [EOS]]):
    batch = Batch({"inputs": pad(lines)}).to(device)
    one, other = decode(plain, batch, config), decode(plain, batch, config, recorded=taped)
    assert [[h.ids for h in row] for row in one] == [[h.ids for h in row] for row in other]
    for ours, theirs in zip(sum(one, []), sum(other, [])):
        assert abs(ours.score - theirs.score) < 1e-3
(tape,) = taped.tapes.values()
assert tape.slate.trace is not None and len(tape.openings) == 1
takes = [tape.take, *(opening.take for opening in tape.openings.values())]
assert [take.graph is not None for take in takes] == [device == "cuda"] * 2
"""


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_searches_find_the_same_by_kernels_after_a_recorded_opening(
    device: str, by_kernels
) -> None:
    by_kernels(BY_KERNELS, device)

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.batch import Batch, pad
from heedful.decoding import beam as beam_file
from heedful.decoding import path as path_file
from heedful.decoding.protocol import Hypothesis
from heedful.decoding.scores import (
    NEVER,
    length_penalty,
    likeliest,
    log_probabilities,
    ranked,
    top,
    top_sums,
)
from heedful.decoding.search import decode
from heedful.errors import HeedfulError
from heedful.nn.memory import Memory
from heedful.presets.base import Decode
from heedful.text.specials import EOS, PAD, START


def only(batch: Batch, row: int) -> Batch:
    """One row of a batch, by itself and without padding."""
    rows = batch.inputs
    return Batch({"inputs": pad([rows.ids[row][rows.at.real[row]].tolist()])})


def same(ours: list[list[Hypothesis]], theirs: list[list[Hypothesis]]) -> None:
    assert [[h.ids for h in row] for row in ours] == [[h.ids for h in row] for row in theirs]
    for mine, other in zip(sum(ours, []), sum(theirs, []), strict=True):
        assert mine.finished == other.finished
        assert mine.score == pytest.approx(other.score, abs=1e-4)
        assert mine.token_scores == pytest.approx(other.token_scores, abs=1e-4)


@pytest.mark.parametrize("alpha", [-0.7, 0.0, 0.6, 1.0, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_all_finds_what_exhaustive_search_finds(toy, every_output, alpha, seed):
    model, source = toy(seed=seed, ending=-2.0 + seed), [7, 9, EOS]
    config = Decode(beam=5**6, alpha=alpha, nbest=4, extra_length=3)
    ranked = sorted(
        every_output(model, source, limit=6),
        key=lambda item: -sum(item[1]) / ((5 + len(item[1])) / 6) ** alpha,
    )
    found = decode(model, Batch({"inputs": pad([source])}), config)[0]
    assert [h.ids for h in found] == [ids for ids, _ in ranked[:4]]
    for hypothesis, (ids, scores) in zip(found, ranked, strict=False):
        assert hypothesis.finished
        assert hypothesis.token_scores == pytest.approx(scores, abs=1e-4)
        penalty = ((5 + len(ids) + 1) / 6) ** alpha
        assert hypothesis.score == pytest.approx(sum(scores) / penalty, abs=1e-4)
        assert hypothesis.log_probability == pytest.approx(sum(scores), abs=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_pruning_drops_what_is_far_behind_and_finds_nothing_better(toy, alpha):
    batch, lost = Batch({"inputs": pad([[7, EOS], [9, EOS]])}), 0
    for seed in range(4):
        model, wide = toy(seed=seed), Decode(beam=5**3, alpha=alpha, extra_length=2)
        all_of_it = decode(model, batch, wide)
        same(decode(model, batch, replace(wide, prune=1e9)), all_of_it)
        for prune in (3.0, 1.0):
            found = decode(model, batch, replace(wide, prune=prune))
            for (mine, *_), (best, *_) in zip(found, all_of_it, strict=True):
                assert (mine.finished, mine.score) <= (best.finished, best.score + 1e-5)
                assert min(mine.token_scores) >= math.log(1 / 5) - prune  # the best is 1/5 or more
                lost += mine.ids != best.ids
        narrow = [row[:1] for row in decode(model, batch, replace(wide, prune=1e-6))]
        same(narrow, decode(model, batch, replace(wide, beam=1)))
    assert lost  # the best is not always among what is left


def test_pruning_ends_a_search_when_all_that_grows_is_far_behind(toy):
    batch = Batch({"inputs": pad([[7, 9, EOS]])})
    model = toy(sharpness=0.1)  # every token is about as likely: none is pruned for itself
    plain = Decode(beam=8, nbest=8, alpha=0.0, extra_length=12)
    whole, steps = decode(model, batch, plain)[0], len(model.rows_seen)
    model.rows_seen.clear()
    found = decode(model, batch, replace(plain, prune=1.0))[0]
    assert len(model.rows_seen) == 2 < steps  # two tokens are 1.6 less likely than one
    assert found[0].ids == whole[0].ids and len(found) < len(whole)


@pytest.mark.parametrize("alpha", [-0.5, 0.0, 0.6, 2.0])
def test_a_beam_of_one_is_greedy_search(toy, sources, alpha):
    for seed in range(5):
        model = toy(size=12, seed=seed)
        config = Decode(beam=1, alpha=alpha, extra_length=8)
        greedy = decode(model, sources, config)
        limits = [int(n) + 8 for n in sources.inputs.at.real.sum(1)]
        prefix = beam_file.Prefix.of(None, len(limits), "cpu")
        beamed = beam_file.beam_search(model, sources, limits, prefix, config)
        same(beamed, greedy)
        assert all(h.token_scores for row in greedy for h in row)


def by_hand(model, source: list[int], limit: int, width: int, alpha: float) -> list[tuple]:
    """The finished outputs of a beam search with lists, best first; nothing stops it early."""
    growing, finished = [(0.0, ())], []
    for length in range(1, limit + 1):
        candidates = []
        for total, ids in growing:
            memory = model.start(Batch({"inputs": pad([source])}))
            logits = model.step(torch.tensor([[START, *ids]]), memory)[0, -1]
            scores = logits.log_softmax(-1).tolist()
            candidates += [(total + scores[t], ids, t) for t in range(model.size) if t != PAD]
        best = sorted(candidates, key=lambda candidate: -candidate[0])[: 2 * width]
        penalty = ((5 + length) / 6) ** alpha
        finished += [(total / penalty, ids) for total, ids, token in best[:width] if token == EOS]
        growing = [(total, (*ids, token)) for total, ids, token in best if token != EOS][:width]
    return [ids for _, ids in sorted(finished, key=lambda output: -output[0])]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_an_end_counts_only_among_the_first_candidates(toy, alpha):
    source, width, wider = [7, 9, EOS], 2, 0
    for seed in range(8):
        model = toy(size=8, seed=seed, sharpness=1.0)
        wanted = by_hand(model, source, limit=7, width=width, alpha=alpha)
        config = Decode(beam=width, nbest=width, alpha=alpha, extra_length=4)
        found = decode(model, Batch({"inputs": pad([source])}), config)[0]
        assert [h.ids for h in found if h.finished] == wanted[:width]
        wider += by_hand(model, source, 7, 2 * width, alpha)[:1] != wanted[:1]
    assert wider  # there was more to find, for a wider beam


@given(
    seed=st.integers(0, 99),
    alpha=st.sampled_from([-1.0, 0.0, 0.6, 1.0, 3.0]),
    width=st.integers(2, 4),
    ending=st.sampled_from([-3.0, 0.0, 2.0]),
    data=st.data(),
)
@settings(max_examples=40)
def test_stopping_early_changes_nothing(toy, seed, alpha, width, ending, data):
    nbest = data.draw(st.integers(1, width))
    config = Decode(beam=width, alpha=alpha, nbest=nbest, extra_length=9)
    batch = Batch({"inputs": pad([[5, 6, 1], [8, 1], [4, 4, 9, 3, 1]])})
    model = toy(size=8, seed=seed, ending=ending)
    stopped = decode(model, batch, config)
    with pytest.MonkeyPatch.context() as patch:
        never = lambda state, config: torch.zeros_like(state.limits, dtype=torch.bool)  # noqa: E731
        patch.setattr(beam_file, "settled", never)
        same(stopped, decode(model, batch, config))


def test_stopping_early_saves_steps(toy, sources):
    model = toy(size=12, ending=4.0)
    decode(model, sources, Decode(beam=4, alpha=0.6, extra_length=40))
    assert len(model.rows_seen) < 20


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_batch_gives_what_each_row_gives_alone(toy, sources, width, alpha):
    model = toy(size=12, ending=-1.0)
    config = Decode(beam=width, nbest=2, alpha=alpha, extra_length=10)
    alone = [decode(model, only(sources, row), config)[0] for row in range(7)]
    same(decode(model, sources, config), alone)


def test_rows_that_are_done_leave_the_batch(toy, sources):
    model = toy(size=12, ending=1.0)
    decode(model, sources, Decode(beam=3, nbest=3, extra_length=10))
    widths = model.rows_seen
    assert widths[0] == 7 and max(widths) == 21  # the first step is not widened yet
    assert len(set(widths[2:])) > 2 and widths[2:] == sorted(widths[2:], reverse=True)


@pytest.mark.parametrize("ending", [1.0, -3.0])
@pytest.mark.parametrize("width", [1, 3])
def test_whether_rows_leave_when_they_are_done_changes_nothing(
    toy, sources, monkeypatch, ending, width
):
    model = toy(size=12, ending=ending)
    config = Decode(beam=width, nbest=width, extra_length=2)
    left = decode(model, sources, config)
    monkeypatch.setattr(path_file, "LEAVING_SHARE", 2.0)
    stayed = toy(size=12, ending=ending)
    same(left, decode(stayed, sources, config))
    assert set(stayed.rows_seen[2:]) == {7 * width}


@pytest.mark.parametrize(
    ("alpha", "reachable"),
    [
        (-1.0, -1 / (6 / 8)),  # at best it ends with the next token, its third
        (0.0, -1.0),
        (1.0, -1 / (12 / 6)),  # at best it goes on to the limit of 7
    ],
)
def test_a_row_is_settled_when_the_best_that_can_come_is_no_better(toy, alpha, reachable):
    config = Decode(beam=2, nbest=1, alpha=alpha)
    prefix = beam_file.Prefix.of(None, 1, "cpu")
    state = beam_file.begin(Batch({"inputs": pad([[4, 1]])}), [7], prefix, config)
    state.step, state.growing.total = 2, torch.tensor([[-1.0, -1.5]])
    assert not beam_file.settled(state, config)  # nothing has ended yet
    for score, settled in [(reachable - 0.01, False), (reachable + 0.01, True)]:
        state.finished.score = torch.tensor([[score]])
        assert beam_file.settled(state, config).item() is settled


def test_a_row_cut_off_at_its_limit_stays_as_it_is_while_others_go_on(toy, monkeypatch):
    batch = Batch({"inputs": pad([[9, 4, 1], [9, 4, 8, 7, 1], [5, 1], [6, 6, 6, 1]])})
    config = Decode(beam=40, nbest=40, alpha=0.0, extra_length=0)
    left = decode(toy(size=5, ending=-4.0), batch, config)
    monkeypatch.setattr(path_file, "LEAVING_SHARE", 2.0)
    same(left, decode(toy(size=5, ending=-4.0), batch, config))


def test_nbest_are_sorted_distinct_and_as_many_as_asked(toy, sources):
    for row in decode(toy(size=12), sources, Decode(beam=6, nbest=5, extra_length=12)):
        assert len(row) == 5
        assert len({h.ids for h in row}) == 5
        ranks = [(h.finished, h.score) for h in row]  # what the limit cut off comes last
        assert ranks == sorted(ranks, reverse=True)
        assert all(EOS not in h.ids and PAD not in h.ids for h in row)


@pytest.mark.parametrize("width", [1, 3])
def test_each_row_has_its_own_limit_and_is_cut_there_unfinished(toy, sources, width):
    model = toy(size=12, ending=-50.0)
    for row, found in enumerate(decode(model, sources, Decode(beam=width, extra_length=2))):
        assert not found[0].finished
        limit = int(sources.inputs.at.real[row].sum()) + 2
        assert len(found[0].ids) == len(found[0].token_scores) == limit
        expected = sum(found[0].token_scores) / ((5 + limit) / 6) ** 0.6
        assert found[0].score == pytest.approx(expected, abs=1e-4)


def test_the_unfinished_come_after_the_finished_however_likely(toy):
    batch = Batch({"inputs": pad([[9, 4, 1]])})
    model = toy(size=5, ending=-4.0)
    # Without a limit on places, some hypotheses end and the likelier ones are cut off.
    found = decode(model, batch, Decode(beam=40, nbest=40, alpha=0.0, extra_length=0))[0]
    finished = [h.finished for h in found]
    assert finished == sorted(finished, reverse=True) and len(set(finished)) == 2
    for kind in (True, False):
        scores = [h.score for h in found if h.finished is kind]
        assert scores == sorted(scores, reverse=True)
    assert max(h.score for h in found if not h.finished) > max(h.score for h in found if h.finished)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_vocabulary_smaller_than_twice_the_beam_is_enough(toy, size):
    found = decode(toy(size=size), Batch({"inputs": pad([[3, 1]])}), Decode(beam=4, nbest=4))[0]
    assert 1 <= len(found) <= 4
    if size == 2:  # padding and end: there is one output, and it is empty
        assert [h.ids for h in found] == [()]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_scores_are_float32_whatever_the_model_computes_in(toy, sources, dtype):
    found = decode(toy(size=12, dtype=dtype), sources, Decode(beam=2, extra_length=5))
    best = found[1][0]
    ids = torch.tensor([[START, *best.ids]])[:, : len(best.token_scores)]
    logits = toy(size=12, dtype=dtype).step(ids, toy(size=12).start(only(sources, 1)))[0]
    chosen = [*best.ids, EOS] if best.finished else best.ids
    exact = logits.float().log_softmax(-1)[range(len(chosen)), list(chosen)]
    assert best.token_scores == pytest.approx(exact.tolist(), abs=1e-6)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("config", [Decode(beam=3), Decode(beam=1), Decode(sample=True)], ids=str)
def test_logits_that_are_no_numbers_are_an_error_that_names_the_row(toy, sources, value, config):
    class Broken(toy):
        def step(self, ids, memory):
            logits = super().step(ids, memory)
            if len(self.rows_seen) == 2:
                logits[4 * (len(logits) // 7), :, 3] = value
            return logits

    with pytest.raises(HeedfulError, match=r"row 4 .* token 2 .* NaN or infinite"):
        decode(Broken(size=12, ending=-9.0), sources, config)


@pytest.mark.parametrize(
    "config", [Decode(beam=3), Decode(beam=1), Decode(sample=True, nbest=2)], ids=str
)
def test_the_row_is_named_by_its_first_place_when_others_have_left(toy, sources, config):
    alone = config.nbest if config.sample else config.beam

    class Late(toy):
        def step(self, ids, memory):
            logits = super().step(ids, memory)
            return logits * float("nan") if len(ids) <= alone else logits

    with pytest.raises(HeedfulError, match=r"row 4 "):  # its source is the longest
        decode(Late(size=12, ending=-99.0), sources, replace(config, extra_length=2))


def test_logits_that_rule_out_every_token_are_an_error(toy, sources):
    class Mute(toy):
        def step(self, ids, memory):
            return torch.full_like(super().step(ids, memory), float("-inf"))

    for width in (1, 2):
        with pytest.raises(HeedfulError, match="row 0"):
            decode(Mute(), sources, Decode(beam=width))


def test_a_model_may_rule_tokens_out(toy, sources):
    class Choosy(toy):
        def step(self, ids, memory):
            logits = super().step(ids, memory)
            logits[..., 5:] = float("-inf")
            return logits

    for row in decode(Choosy(size=12), sources, Decode(beam=4, nbest=4)):
        assert all(token < 5 for h in row for token in h.ids)


def test_equals_are_told_apart_by_the_lower_id(sources):
    class Even:
        def start(self, batch):
            return Memory()

        def step(self, ids, memory):
            logits = torch.zeros(*ids.shape, 9)
            logits[..., EOS] = -1.0
            return logits

    found = decode(Even(), sources, Decode(beam=3, nbest=3, extra_length=0))
    assert [h.ids for h in found[3]] == [(2, 2), (2, 3), (2, 4)]
    assert decode(Even(), sources, Decode(beam=1, extra_length=0))[3][0].ids == (2, 2)


@pytest.mark.parametrize("top", [top, ranked])
@given(
    values=st.lists(
        st.sampled_from([-math.inf, -2.5, -0.0, 0.0, 1e-30, 3.0]), min_size=4, max_size=20
    )
)
def test_top_takes_the_first_of_equals(top, values):
    scores, places = top(torch.tensor([values]), 4)
    expected = sorted(range(len(values)), key=lambda i: -values[i])[:4]  # a stable sort
    assert places[0].tolist() == expected
    assert scores[0].tolist() == [torch.tensor(values[i]).item() for i in expected]


@pytest.mark.parametrize("top", [top, ranked])
@given(
    seed=st.integers(0, 10_000), kinds=st.sampled_from([3, 40, 300, 10**6]), count=st.integers(1, 9)
)
def test_top_finds_the_same_among_many_places(top, seed, kinds, count):
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randint(kinds, (2, 3, 1_500), generator=draw).float()
    best, places = top(scores, count)
    all_of_them, order = scores.sort(dim=-1, descending=True, stable=True)
    assert torch.equal(places, order[..., :count])
    assert torch.equal(best, all_of_them[..., :count])


@given(
    seed=st.integers(0, 10_000),
    kinds=st.sampled_from([3, 300, 10**6]),
    size=st.sampled_from([700, 1_500, 2_048]),
    count=st.integers(1, 9),
)
def test_top_of_sums_is_top_of_all_of_them(seed, kinds, size, count):
    draw = torch.Generator().manual_seed(seed)
    scores = -torch.randint(kinds, (2, 3, size), generator=draw).float() / 7
    before = -torch.rand(2, 3, generator=draw) * 20
    before[1, 2], scores[:, 1, -1] = -math.inf, 30.0  # the last place is in no whole group
    best, places = top_sums(before, scores, count)
    wanted, order = top((before[..., None] + scores).flatten(-2), count)
    assert torch.equal(places, order) and torch.equal(best, wanted)


@pytest.mark.parametrize("groups", [(5, 1), (1, 5), (9, 20), (20, 9)])
def test_equal_sums_stand_in_the_order_of_their_places(groups: tuple[int, int]) -> None:
    scores = -torch.arange(100.0, 2_148.0)[None, None]
    best, other = (64 * group for group in groups)
    scores[0, 0, [best, best + 1, other + 2, 700]] = torch.tensor([-1.0, -2.0, -2.0, -3.0])
    found, places = top_sums(torch.zeros(1, 1), scores, 4)
    assert found.tolist() == [[-1.0, -2.0, -2.0, -3.0]]
    assert places.tolist() == [[best, *sorted([best + 1, other + 2]), 700]]


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_log_probabilities_are_those_of_the_last_place(dtype: torch.dtype, learns: bool) -> None:
    whole = torch.randn(5, 3, 70).to(dtype)
    for logits in (whole[:, -1], whole[:, -1].contiguous()):  # rows apart, and in one piece
        expected = logits.float().log_softmax(-1)
        expected[:, PAD] = NEVER
        given, others = logits.requires_grad_(learns), whole[:, :2].clone()
        assert torch.equal(log_probabilities(given), expected)
        assert torch.equal(whole[:, :2], others)  # nothing else is written over


@pytest.mark.parametrize("size", [5, 64, 128, 130, 1000])
def test_the_likeliest_is_the_first_of_equals(size: int) -> None:
    scores = torch.randint(20, (30, size)).float()  # most of them have equals
    scores[1, -1], scores[2] = 99.0, float("-inf")
    scores[3, size // 2] = float("nan")
    assert torch.equal(likeliest(scores), scores.argmax(dim=1))


def test_the_length_penalty_is_one_at_length_one_and_for_alpha_zero():
    assert length_penalty(1.0, 0.6) == 1.0
    assert length_penalty(30.0, 0.0) == 1.0
    assert length_penalty(torch.tensor([7.0]), 1.0).item() == 2.0

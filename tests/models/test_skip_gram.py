"""Skip-gram: which words meet, which are dropped, and what comes of it."""

import itertools
import math

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, Rows, pad
from heedful.errors import UsageError
from heedful.models.building import build
from heedful.models.skip_gram import SkipGram, SkipGramConfig
from heedful.nn.contrast import Negatives
from heedful.nn.layout import Layout
from heedful.nn.losses import Smoothing
from heedful.text.specials import EOS, RESERVED
from heedful.text.words import WordTokenizer

SIX = RESERVED + 6


def made(vocabulary=SIX, dim=8, drawn=64, power=0.75, **changes) -> SkipGram:
    torch.manual_seed(0)
    config = SkipGramConfig(dim=dim, tie="none", **changes)
    loss = Negatives(samples=2, drawn=drawn, power=power)
    model = build(config, {"targets": vocabulary}, True, loss)
    assert isinstance(model, SkipGram)
    return model


def met(model: SkipGram, ids, at, windows) -> set[tuple[int, int]]:
    """(centre, other) by their places, of all rows."""
    found = set()
    places = torch.arange(ids.shape[1]).expand_as(ids)
    for centre, other, pair in model.pairs(at, windows):
        found |= set(
            zip(places[:, centre][pair].tolist(), places[:, other][pair].tolist(), strict=True)
        )
    return found


def test_a_word_meets_those_in_its_own_window_and_in_its_own_passage() -> None:
    model = made(window=2)
    ids = torch.tensor([[3, 4, 5, 6, 7, 8]])
    segments = torch.tensor([[1, 1, 1, 2, 2, 0]])
    at = Layout(torch.tensor([[0, 1, 2, 0, 1, 0]]), segments)
    windows = torch.tensor([[2, 1, 1, 2, 2, 2]])
    wanted = {(0, 1), (0, 2), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)}
    assert met(model, ids, at, windows) == wanted


def test_dropping_words_moves_the_others_together() -> None:
    model = made(window=1)
    model.kept[:] = 1.0
    model.kept[4] = model.kept[EOS] = 0.0
    rows = pad([[3, 4, 5, EOS], [4, 4, 6]])
    ids, at = model.thinned(rows.ids, rows.at)
    assert ids[0, :2].tolist() == [3, 5] and at.segments.tolist() == [[1, 1, 0, 0], [1, 0, 0, 0]]
    assert met(model, ids, at, torch.ones_like(ids)) == {(0, 1), (1, 0)}


def test_frequent_words_are_kept_by_the_root_of_their_rarity() -> None:
    counts = [0, 50, 0, 90_000, 9_000, 899, 51]
    model = made(WordTokenizer("abcd", counts), rare=1e-3)
    share = torch.tensor(counts[RESERVED:]).double() / sum(counts)
    wanted = (1e-3 / share).sqrt().clamp(max=1.0)
    torch.testing.assert_close(model.kept[RESERVED:].double(), wanted, rtol=2e-2, atol=0.0)
    assert (model.kept[:RESERVED] == 0).all()
    rows = Rows(torch.full((1, 20_000), 3), Layout(*(torch.ones(2, 1, 20_000).long())))
    _, at = model.thinned(rows.ids, rows.at)
    stays = float(at.real.float().mean())
    assert abs(stays - float(wanted[0])) < 4 * math.sqrt(float(wanted[0]) / 20_000)
    assert (made(SIX, rare=0.0).kept[RESERVED:] == 1).all()


def test_trained_the_loss_is_the_papers_with_noise_shared() -> None:
    model = made(window=1, rare=0.0).double().train()
    batch = Batch({"targets": pad([[3, 4, EOS]])})
    torch.manual_seed(5)
    loss = model.loss(batch)
    v, u = model.targets.weight * 8**0.5, model.head.embedding.weight
    torch.manual_seed(5)
    model.thinned(batch.targets.ids, batch.targets.at)
    torch.randint(1, 2, batch.targets.ids.shape)
    drawn = model.head.noise.draw()
    wanted = -(v[3] @ u[4]).sigmoid().log() - (v[4] @ u[3]).sigmoid().log()
    for centre in (3, 4):
        wanted = wanted - 2 * (-(u[drawn] @ v[centre])).sigmoid().log().mean()
    assert int(loss.weight) == 2
    torch.testing.assert_close(loss.sum.double(), wanted, rtol=1e-5, atol=0.0)


def test_evaluated_it_is_a_softmax_over_all_words_for_each_pair() -> None:
    model = made(window=2).eval()
    loss = model.loss(Batch({"targets": pad([[3, 4, 5, EOS]])}))
    logp = (model.targets.weight * 8**0.5 @ model.head.embedding.weight.T).log_softmax(-1)
    pairs = list(itertools.permutations((3, 4, 5), 2))
    torch.testing.assert_close(loss.nll, -sum(logp[pair] for pair in pairs))
    assert int(loss.weight) == len(pairs)


def test_trained_vectors_multiply_to_how_much_more_often_words_meet_than_by_chance() -> None:
    """Levy and Goldberg, NeurIPS 2014: v·u = PMI - log k, where vectors are long enough."""
    joint = torch.tensor([[6, 3, 1, 2], [3, 2, 4, 1], [1, 4, 8, 3], [2, 1, 3, 2]])
    passages = [
        [RESERVED + a, RESERVED + b]
        for a, b in itertools.product(range(4), range(4))
        for _ in range(int(joint[a, b]))
    ]
    seen = joint.sum(0) + joint.sum(1)
    counts = [0, 0, 0, *(1_000_000 * seen).tolist()]
    model = made(WordTokenizer("abcd", counts), power=1.0, window=1, rare=0.0, drawn=512).train()
    batch = Batch({"targets": pad(passages)})
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda n: 0.99**n)
    for _ in range(600):
        loss = model.loss(batch)
        optimiser.zero_grad()
        (loss.sum / loss.weight).backward()
        optimiser.step()
        falling.step()
    both = (joint + joint.T).double()
    share = both / both.sum()
    alone = share.sum(0)
    wanted = (share / (alone[:, None] * alone)).log() - math.log(2)
    v, u = model.targets.weight * 8**0.5, model.head.embedding.weight
    found = (v[RESERVED:] @ u[RESERVED:].T).detach().double()
    assert (found - wanted).abs().max() < 0.05


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"tie": "all"}, "two tables"), ({"window": 0}, "window"), ({"rare": 2.0}, "rare")],
    ids=str,
)
def test_what_cannot_be_is_refused(changes, said) -> None:
    with pytest.raises(UsageError, match=said):
        SkipGramConfig(**{"dim": 8, "tie": "none"} | changes)


def test_it_learns_by_negative_sampling_only() -> None:
    with pytest.raises(UsageError, match="set loss=negatives"):
        build(SkipGramConfig(dim=8, tie="none"), {"targets": SIX}, True, Smoothing())


def test_its_preset_varies_as_any() -> None:
    from heedful.registry import presets

    assert vary(presets.get("skip_gram_words")(), {"model.window": "2"}).model.window == 2

import math

import pytest
import torch

from heedful.data.batch import Batch, pad
from heedful.decoding.sampling import Chance, drawn
from heedful.decoding.search import decode
from heedful.presets.base import Decode
from heedful.text.specials import EOS, PAD


def first_tokens(model, config, count=3000):
    """How often each token comes first, over many rows of the same source."""
    batch = Batch({"inputs": pad([[5, 9, EOS]] * count)})
    found = decode(model, batch, config, seed=11)
    firsts = [(*row[0].ids, EOS)[0] for row in found]
    return torch.bincount(torch.tensor(firsts), minlength=model.size) / count


def expected_first(model, temperature):
    memory = model.start(Batch({"inputs": pad([[5, 9, EOS]])}))
    logits = model.step(torch.zeros(1, 1, dtype=torch.long), memory)[0, 0]
    logits[PAD] = -math.inf
    return (logits / temperature).softmax(-1)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_frequencies_are_those_of_the_softmax(toy, temperature):
    model, count = toy(size=8), 3000
    expected = expected_first(model, temperature)
    config = Decode(sample=True, temperature=temperature, extra_length=0)
    seen = first_tokens(model, config, count)
    chi_square = ((seen - expected) ** 2 / expected.clamp(min=1e-9))[1:].sum() * count
    assert chi_square < 22.5  # six degrees of freedom, one in a thousand
    assert seen[PAD] == 0


def test_top_k_draws_only_from_the_k_likeliest(toy):
    model = toy(size=8)
    expected = expected_first(model, 1.0)
    seen = first_tokens(model, Decode(sample=True, top_k=3, extra_length=0))
    likeliest = expected.topk(3).indices
    assert set(seen.nonzero().flatten().tolist()) == set(likeliest.tolist())
    share = expected[likeliest] / expected[likeliest].sum()
    assert torch.allclose(seen[likeliest].double(), share.double(), atol=0.04)


def test_top_p_draws_from_the_fewest_that_hold_p():
    log_probs = torch.tensor([[0.1, 0.4, 0.3, 0.2]]).log()
    sets = {0.39: {1}, 0.41: {1, 2}, 0.69: {1, 2}, 0.8: {1, 2, 3}, 1.0: {0, 1, 2, 3}}
    for top_p, kept in sets.items():
        shaped = Chance(top_p=top_p).shape(log_probs)[0]
        assert set((shaped > -math.inf).nonzero().flatten().tolist()) == kept
        assert shaped.exp().sum().item() == pytest.approx(1.0)


def test_top_k_comes_before_top_p():
    log_probs = torch.tensor([[0.1, 0.4, 0.3, 0.2]]).log()
    shaped = Chance(top_k=2, top_p=0.5).shape(log_probs)[0].exp()
    assert shaped.tolist() == pytest.approx([0.0, 1.0, 0.0, 0.0])  # 0.4 is 57% of the two


def test_a_number_falls_on_the_token_whose_share_it_is_in():
    log_probs = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]]).log()
    luck = [0.0, 0.25, 0.4999, 0.5, 0.75, 1 - 2**-53]
    tokens = drawn(log_probs.expand(6, 5), torch.tensor(luck, dtype=torch.double))
    assert tokens.tolist() == [1, 1, 1, 3, 3, 3]


def test_a_temperature_of_zero_is_greedy(toy, sources):
    model = toy(size=12)
    cold = decode(model, sources, Decode(sample=True, temperature=0.0))
    assert cold == decode(model, sources, Decode(beam=1))


def test_what_a_row_says_does_not_depend_on_its_company(toy, sources):
    model = toy(size=12, ending=-1.0)
    config = Decode(sample=True, nbest=2, extra_length=8)
    seeds = [100 + row for row in range(7)]
    together = decode(model, sources, config, seed=seeds)
    order = [4, 0, 6, 2]
    rows = [sources.inputs.ids[r][sources.inputs.at.real[r]].tolist() for r in order]
    apart = decode(model, Batch({"inputs": pad(rows)}), config, seed=[seeds[r] for r in order])
    assert [[h.ids for h in row] for row in apart] == [[h.ids for h in together[r]] for r in order]


def test_seeds_decide_and_rows_of_one_seed_differ(toy):
    model = toy(size=12, ending=-2.0)
    batch = Batch({"inputs": pad([[5, 9, 3, 3, 3, 1]] * 4)})
    config = Decode(sample=True, extra_length=6)
    one, again, other = (decode(model, batch, config, seed=s) for s in (1, 1, 2))
    assert one == again and one != other
    assert len({row[0].ids for row in one}) > 1


def test_samples_of_a_row_come_best_first(toy, sources):
    for row in decode(toy(size=12), sources, Decode(sample=True, nbest=5, beam=1)):
        assert len(row) == 5
        assert [h.score for h in row] == sorted((h.score for h in row), reverse=True)

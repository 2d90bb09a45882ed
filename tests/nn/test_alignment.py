"""Scores, windows and coverage: which are the same function, what they see, what they do not."""

import math

import pytest
import torch
from torch import Tensor

from heedful.config import vary
from heedful.errors import UsageError
from heedful.nn.alignment import Alignment, Looked
from heedful.nn.attention import Encoded
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.scores import Additive, Concat, Dot, Gaussian, Location, Score
from heedful.nn.windows import Everywhere, Monotonic, Predictive, Window

S, T, D = 6, 4, 8
EXACT = {"atol": 1e-12, "rtol": 0}
SOFT = ["additive", "concat", "normed_additive", "dot", "general", "scaled_dot", "cosine"]


def scorer(kind: str, **fields: object) -> Score:
    return vary(Score.choices[kind](), fields)


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.double)


def made(score: Score, window: Window = Everywhere(), coverage: bool = False) -> Alignment:
    return Alignment(score, D, D, window, coverage).double()


def looked(
    alignment: Alignment, q: Tensor, keys: Tensor, at: Layout | None = None, begin: int = 0
) -> Looked:
    source = Encoded(keys, line(keys.shape[1], batch=len(keys)) if at is None else at)
    scene = alignment.scene(
        alignment.prepare(source), source.at, line(q.shape[1], begin, batch=len(q))
    )
    return alignment(q, scene, alignment.fresh(q, scene))


def weights(alignment: Alignment, q: Tensor, keys: Tensor, at: Layout | None = None) -> Tensor:
    return looked(alignment, q, keys, at).weights


def copied(alignment: Alignment, **values: Tensor) -> Alignment:
    with torch.no_grad():
        for name, value in values.items():
            alignment.score.get_parameter(name.replace("__", ".")).copy_(value)
    return alignment


def test_scores_that_are_one_function_agree() -> None:
    q, k = noise(2, T, D), noise(2, S, D)
    w, u, v = noise(D, D), noise(D, D), noise(1, D)
    additive = copied(made(scorer("additive")), to_q__weight=w, to_k__weight=u, v=v)
    concat = copied(made(scorer("concat")), to_q__weight=w, to_k__weight=u, v=v)
    by_hand = torch.tanh(
        torch.cat([q[:, :, None].expand(-1, -1, S, -1), k[:, None].expand(-1, T, -1, -1)], -1)
        @ torch.cat([w, u], 1).t()
    )
    expected = (by_hand @ v[0]).softmax(-1)
    torch.testing.assert_close(weights(additive, q, k), expected, **EXACT)
    torch.testing.assert_close(weights(concat, q, k), expected, **EXACT)
    normed = copied(
        made(scorer("normed_additive")),
        to_q__weight=w,
        to_k__weight=u,
        v=v,
        g=v.norm(),
    )
    torch.testing.assert_close(weights(normed, q, k), expected, **EXACT)


def test_products_that_are_one_function_agree() -> None:
    q, k, eye = noise(2, T, D), noise(2, S, D), torch.eye(D, dtype=torch.double)
    dot = weights(made(scorer("dot")), q, k)
    torch.testing.assert_close(dot, (q @ k.mT).softmax(-1), **EXACT)
    general = copied(made(scorer("general")), to_k__weight=eye)
    torch.testing.assert_close(weights(general, q, k), dot, **EXACT)
    w, u = noise(D, D), noise(D, D)
    scaled = copied(made(scorer("scaled_dot")), to_q__weight=w, to_k__weight=u)
    general = copied(made(scorer("general")), to_k__weight=w.t() @ u / math.sqrt(D))
    torch.testing.assert_close(weights(scaled, q, k), weights(general, q, k), **EXACT)


def test_cosine_is_a_product_of_unit_vectors_and_does_not_care_how_long_keys_are() -> None:
    q, k = noise(2, T, D), noise(2, S, D)
    cosine = made(scorer("cosine"))
    strength = torch.nn.functional.softplus(cosine.score.to_strength(q))
    unit = (q / q.norm(dim=-1, keepdim=True)) @ (k / k.norm(dim=-1, keepdim=True)).mT
    torch.testing.assert_close(weights(cosine, q, k), (strength * unit).softmax(-1), **EXACT)
    longer = k.clone()
    longer[:, 2] *= 7
    torch.testing.assert_close(weights(cosine, q, k), weights(cosine, q, longer), **EXACT)


@pytest.mark.parametrize("kind", SOFT)
def test_permuting_the_source_permutes_the_weights_and_not_the_context(kind: str) -> None:
    q, k, order = noise(1, T, D), noise(1, S, D), torch.tensor([3, 5, 0, 1, 4, 2])
    alignment, at = made(scorer(kind)), ragged([4], S)
    one = looked(alignment, q, k, at)
    moved = Layout(at.positions[:, order], at.segments[:, order])
    other = looked(alignment, q, k[:, order], moved)
    torch.testing.assert_close(other.weights, one.weights[..., order], **EXACT)
    torch.testing.assert_close(other.context, one.context, **EXACT)


@pytest.mark.parametrize("kind", [*SOFT, "location"])
def test_weights_sum_to_one_over_what_is_real(kind: str) -> None:
    found = weights(made(scorer(kind)), noise(3, T, D), noise(3, S, D), ragged([6, 3, 1]))
    torch.testing.assert_close(found.sum(-1), torch.ones(3, T, dtype=torch.double), **EXACT)
    assert found[1, :, 3:].abs().sum() == 0 and found[2, :, 1:].abs().sum() == 0


def test_a_score_of_places_does_not_see_what_stands_there_or_beyond_its_reach() -> None:
    q, location = noise(1, T, D), made(Location(longest=4))
    one, other = (weights(location, q, noise(1, S, D)) for _ in range(2))
    assert torch.equal(one, other)
    assert one[..., 4:].abs().sum() == 0 and (one[..., :4] > 0).all()


def test_a_source_of_nothing_gives_nothing() -> None:
    found = looked(made(Additive()), noise(2, T, D), noise(2, S, D), ragged([6, 0]))
    assert found.context[1].abs().sum() == 0 and found.weights[1].abs().sum() == 0
    empty = looked(made(Additive()), noise(2, T, D), noise(2, 0, D))
    assert empty.context.shape == (2, T, D) and empty.context.abs().sum() == 0


def test_bells_only_move_on_and_are_what_the_paper_says() -> None:
    alignment = made(Gaussian(bells=2))
    k = noise(1, S, D)
    source = Encoded(k, line(S))
    scene = alignment.scene(alignment.prepare(source), source.at, line(T))
    carried, centres = alignment.fresh(k, scene), []
    for t in range(T):
        q = noise(1, 1, D)
        before = carried[1]
        found = alignment(q, scene.step(t), carried)
        carried = found.carried
        a, b, way = alignment.score.to_bells(q[0, 0]).exp().chunk(3)
        place = torch.arange(1, S + 1)[:, None]
        expected = (a * torch.exp(-b * (before[0] + way - place) ** 2)).sum(-1)
        torch.testing.assert_close(found.weights[0, 0], expected, **EXACT)
        centres.append(carried[1])
    assert all((after > before).all() for before, after in zip(centres, centres[1:], strict=False))


def test_a_window_that_moves_on_sees_its_width_and_as_wide_as_the_source_it_is_global() -> None:
    q, k, score = noise(1, T, D), noise(1, S, D), Dot()
    narrow = weights(made(score, Monotonic(width=1)), q, k)
    seen = (torch.arange(S) - torch.arange(T)[:, None]).abs() <= 1
    assert torch.equal(narrow[0] > 0, seen)
    torch.testing.assert_close(narrow.sum(-1), torch.ones(1, T, dtype=torch.double), **EXACT)
    assert torch.equal(weights(made(score, Monotonic(width=S)), q, k), weights(made(score), q, k))


def test_a_window_of_choice_is_luongs() -> None:
    q, k = noise(1, T, D), noise(1, S, D).requires_grad_()
    alignment = made(Dot(), Predictive(width=2))
    found = looked(alignment, q, k, ragged([5], S))
    frame = alignment.window
    p = 5 * torch.sigmoid(frame.to_place(torch.tanh(frame.to_hidden(q))))  # [1, T, 1]
    away = torch.arange(S) - p
    inside = (away.abs() <= 2) & (torch.arange(S) < 5)
    score = (q @ k.mT).masked_fill(~inside, -math.inf).softmax(-1)
    torch.testing.assert_close(found.weights, score * torch.exp(-(away**2) / 2), **EXACT)
    assert (found.weights.sum(-1) < 1).all()
    (gradient,) = torch.autograd.grad(found.context[0, 0].sum(), k, retain_graph=True)
    assert gradient[0, ~inside[0, 0]].abs().sum() == 0
    (gradient,) = torch.autograd.grad(found.context.sum(), frame.to_place.weight)
    assert gradient.abs().sum() > 0


def test_a_wide_window_of_choice_with_a_flat_bell_is_global() -> None:
    q, k = noise(1, T, D), noise(1, S, D)
    wide = made(Dot(), Predictive(width=2 * S, spread=1e9))
    torch.testing.assert_close(weights(wide, q, k), weights(made(Dot()), q, k), **EXACT)


def test_coverage_is_the_sum_of_what_was_looked_at_and_changes_where_to_look() -> None:
    alignment, k = made(Additive(), coverage=True), noise(2, S, D)
    source = Encoded(k, ragged([6, 4]))
    scene = alignment.scene(alignment.prepare(source), source.at, line(T, batch=2))
    carried, total, q = alignment.fresh(k, scene), torch.zeros(2, S), noise(2, 1, D)
    seen = []
    for t in range(T):
        found = alignment(q, scene.step(t), carried)
        carried, total = found.carried, total + found.weights[:, 0]
        torch.testing.assert_close(carried[0], total, **EXACT)
        seen.append(found.weights)
    assert (seen[0] - seen[1]).abs().max() > 1e-4  # the same question, another answer


def test_rows_that_share_a_source_see_what_rows_of_their_own_would() -> None:
    alignment, q, k = made(Additive()), noise(6, T, D), noise(3, S, D)
    at = ragged([6, 3, 5])
    apart = looked(
        alignment, q, k.repeat_interleave(2, 0), at.select(torch.tensor([0, 0, 1, 1, 2, 2]))
    )
    source = Encoded(k, at)
    scene = alignment.scene(alignment.prepare(source), at, line(T, batch=6))
    together = alignment(q, scene, alignment.fresh(q, scene))
    torch.testing.assert_close(together, apart, **EXACT)


def test_what_cannot_be_is_said() -> None:
    for window in (Monotonic(), Predictive()):
        with pytest.raises(UsageError, match="needs a width of 1 or more, got 0"):
            made(Dot(), window)
    with pytest.raises(UsageError, match="state has 8, what the encoder puts out 6"):
        Alignment(Dot(), 8, 6)
    with pytest.raises(UsageError, match="'general' has none. Use additive"):
        made(scorer("general"), coverage=True)
    with pytest.raises(UsageError, match="no softmax that a window could be put round"):
        made(Gaussian(), Monotonic(width=2))
    with pytest.raises(UsageError, match="1 place or more, got 0"):
        made(Location(longest=0))
    with pytest.raises(UsageError, match="1 bell or more, got 0"):
        made(Gaussian(bells=0))
    assert isinstance(Concat().build(D, D, coverage=True), torch.nn.Module)

import numpy as np

from heedful.seeing.attention import look
from heedful.seeing.rollout import rollout


def test_one_layer_is_half_what_a_place_was() -> None:
    heads = np.array([[[1.0, 0.0], [0.2, 0.8]], [[1.0, 0.0], [0.6, 0.4]]])
    (found,) = rollout([heads])
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.2, 0.8]])


def test_layers_are_followed_path_by_path() -> None:
    layers = np.random.default_rng(2).random((3, 2, 4, 4))
    layers /= layers.sum(-1, keepdims=True)
    mixed = [0.5 * layer.mean(0) + 0.5 * np.eye(4) for layer in layers]
    expected = np.zeros((4, 4))
    for top in range(4):
        for bottom in range(4):
            for a in range(4):
                for b in range(4):
                    expected[top, bottom] += mixed[2][top, a] * mixed[1][a, b] * mixed[0][b, bottom]
    np.testing.assert_allclose(rollout(list(layers))[2], expected)


def test_a_query_that_sees_nothing_stays_itself() -> None:
    (found,) = rollout([np.array([[[0.0, 0.0], [0.5, 0.5]]])])
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.25, 0.75]])


def test_rollouts_of_a_model_are_shares(make) -> None:
    seen = look(make(), "The cow ate the hay.", "it was hungry")
    for one in seen.attended:
        assert len(one.rollout) == 2
        for made in one.rollout:
            np.testing.assert_allclose(made.sum(-1), 1, atol=1e-5)
    cross, encoder = seen.of("cross"), seen.of("encoder")
    np.testing.assert_allclose(cross.rollout[0], cross.mean(0) @ encoder.rollout[1], atol=1e-6)

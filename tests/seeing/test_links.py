"""Links between words: whose letters a token has, and whether the strongest link is a true one."""

import numpy as np
import pytest
import torch

from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.seeing.attention import look
from heedful.seeing.links import beginnings, both_ways, places, right, shares, word_weights
from heedful.seeing.panels import panels
from heedful.text.base import Tokenizer

TEXT, TARGET = "The cow ate.", "The hay was."
WORDS = [(0, 3), (4, 7), (8, 11), (11, 12)]


def translator(preset: str, tokenizer: Tokenizer) -> Translator:
    torch.manual_seed(3)
    sizes = {"inputs": tokenizer, "targets": tokenizer}
    model = build(presets.get(preset)().model, sizes, shared=True, loss=Smoothing())
    return Translator(model.eval(), sizes, Decode(extra_length=4), torch.device("cpu"))


def test_tokens_stand_where_their_letters_do() -> None:
    assert places(["Q", "ui", " est"], "Qui est") == [(0, 1), (1, 3), (3, 7)]
    bytes_too = ["H", "<c3>", "<a9>", "l", "<c3>", "<a8>", "ne", " x"]
    assert places(bytes_too, "Hélène x") == [
        (0, 1),
        (1, 2),
        (1, 2),
        (2, 3),
        (3, 4),
        (3, 4),
        (4, 6),
        (6, 8),
    ]
    assert places(["l", "<c3>", "<a8>"], "lè") == [(0, 1), (1, 2), (1, 2)]
    with pytest.raises(HeedfulError, match="spell only 'Qui'"):
        places(["Qui"], "Qui est")


def test_a_token_is_shared_by_the_words_that_it_reaches_over() -> None:
    found = shares(["qu", "'i", "l "], "qu'il ", [(0, 3), (3, 5)])
    assert found.tolist() == [[1, 0], [0.5, 0.5], [0, 1]]


def test_the_strongest_link_of_each_word_is_counted_once() -> None:
    weights = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.4, 0.6, 0.0]])
    assert right(weights, [(0, 0), (1, 0), (0, 1), (1, 2)]) == (2, 3)
    assert right(weights, []) == (0, 0)


def test_both_ways_a_word_is_linked_to_what_is_its_own() -> None:
    """The article looks at its noun more than at the article, which nobody else looks at; and the
    full stop a little at a word that nobody else looks at."""
    weights = np.array([[0.3, 0.6, 0.0, 0.0], [0.02, 0.9, 0.0, 0.0], [0.0, 0.3, 0.1, 0.6]])
    true = [(0, 0), (1, 1), (3, 2)]
    assert right(weights, true) == (2, 3)
    assert right(both_ways(weights), true) == (3, 3)
    shares = weights[:, 1] / weights[:, 1].sum()
    np.testing.assert_allclose(both_ways(weights)[:, 1], weights[:, 1] * shares)
    assert not both_ways(np.zeros((2, 3))).any()


def test_a_word_begins_at_its_first_token() -> None:
    found = shares(["qu", "'", "ils", " on", "t"], "qu'ils ont", [(0, 3), (3, 6), (7, 10)])
    begun = [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_array_equal(beginnings(found), begun)


@pytest.mark.parametrize("preset", ["rnn_search_tiny", "luong_tiny", "gnmt_tiny"])
def test_a_recurrent_model_is_looked_into_like_any_other(preset: str, subwords: Tokenizer) -> None:
    model = translator(preset, subwords)
    seen = look(model, TEXT, TARGET)
    (attended,) = seen.attended
    assert attended.kind == "cross" and len(attended.layers) == 1
    assert attended.layers[0].weights.shape == (
        1,
        len(attended.queries.tokens),
        len(attended.keys.tokens),
    )
    np.testing.assert_allclose(attended.layers[0].weights.sum(-1), 1.0, atol=1e-5)
    said, read, weights = seen.alignment()
    assert read[:2] == ["The", "cow"] and weights.shape == (len(said), len(read))
    assert panels(seen, "alignment")[0].weights.shape == weights.shape


def test_weights_between_words_leave_only_the_ends_out(subwords: Tokenizer) -> None:
    weights = word_weights(translator("rnn_search_tiny", subwords), TEXT, TARGET, WORDS, WORDS)
    assert weights.shape == (4, 4) and (weights > 0).all() and (weights.sum(-1) < 1).all()


def test_a_model_without_attention_has_no_links(subwords: Tokenizer) -> None:
    with pytest.raises(UsageError, match="attends to nothing"):
        word_weights(translator("lstm_seq2seq_tiny", subwords), TEXT, TARGET, WORDS, WORDS)

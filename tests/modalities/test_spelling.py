"""A word's vector comes from its spelling and from nothing else."""

import pytest
import torch

from heedful.errors import UsageError
from heedful.modalities.spelling import (
    BEGIN,
    END,
    UNKNOWN,
    Characters,
    Highway,
    Hybrid,
    HybridEmbedding,
    Spelled,
    spellings,
)
from heedful.models.building import build
from heedful.models.transformer import TransformerLMConfig
from heedful.nn.losses import Smoothing
from heedful.text.specials import PAD, RESERVED
from heedful.text.words import WordTokenizer

WORDS = ["cat", "cats", "a", "extraordinarily", "naïve", "tac"]
TOKENIZER = WordTokenizer(WORDS)
SMALL = Characters(size=4, widths=(1, 2, 6), filters=3)


def made(config: Characters = SMALL) -> Spelled:
    torch.manual_seed(0)
    embedding = config.build(TOKENIZER, 10).double()
    assert isinstance(embedding, Spelled)
    return embedding


def test_words_are_spelt_between_marks_each_letter_as_itself() -> None:
    rows, alphabet = spellings(TOKENIZER, SMALL)
    cat, cats, tac = rows[RESERVED], rows[RESERVED + 1], rows[RESERVED + 5]
    assert (cat[0], cat[4], int((cat != 0).sum())) == (BEGIN, END, 5)
    assert cat[1:4].tolist() == cats[1:4].tolist() == tac[1:4].flip(0).tolist()
    assert alphabet == 4 + len(set("".join(WORDS)))
    assert (rows[1, 1] == UNKNOWN) or rows[1, 1] >= 4  # special ids are spelt by their names


def test_bytes_spell_every_letter_there_is() -> None:
    rows, alphabet = spellings(TOKENIZER, Characters(spelt="bytes"))
    assert alphabet == 4 + 256
    assert [i - 4 for i in rows[RESERVED + 4].tolist() if i >= 4] == list("naïve".encode())


def test_a_long_word_is_read_as_far_as_is_asked_for() -> None:
    rows, _ = spellings(TOKENIZER, Characters(longest=6))
    assert rows.shape[1] == 6 and int(rows[RESERVED + 3, -1]) == END


def test_words_spelt_alike_share_a_vector_and_others_do_not() -> None:
    torch.manual_seed(0)
    twice = Spelled(WordTokenizer(["cat", "cat", "act"]), 10, SMALL).double()
    one, same, other = twice(torch.tensor([[RESERVED, RESERVED + 1, RESERVED + 2]]))[0]
    torch.testing.assert_close(one, same)
    assert not torch.isclose(one, other).any()


@pytest.mark.parametrize("more", [1, 2, 30])
def test_room_for_longer_words_changes_no_vector(more: int) -> None:
    embedding = made()
    rows = embedding.spelling
    wider = torch.cat([rows, rows.new_zeros(len(rows), more)], 1)
    torch.testing.assert_close(embedding.spell(wider), embedding.spell(rows))
    short = rows[[RESERVED + 2]]  # "a", shorter than the widest filter
    alone = short[:, : int((short != 0).sum())]
    torch.testing.assert_close(embedding.spell(alone), embedding.spell(short))


def test_the_strongest_answer_is_taken_from_inside_the_word() -> None:
    """By hand: each filter at each place of the word, tanh, the largest."""
    embedding = made(Characters(size=4, widths=(2,), filters=3, highways=0))
    letters = embedding.spelling[RESERVED]  # {cat}
    vectors = embedding.weight[letters[:5]] * 4**0.5
    (one,) = embedding.filters
    answers = [(one.weight * vectors[i : i + 2].T).sum((1, 2)) + one.bias for i in range(4)]
    by_hand = torch.stack(answers).max(0).values.tanh() @ embedding.out.weight.T
    torch.testing.assert_close(embedding(torch.tensor([[RESERVED]]))[0, 0], by_hand)


def test_a_word_too_short_for_a_filter_is_met_by_it_all_the_same() -> None:
    torch.manual_seed(0)
    wide = Spelled(WordTokenizer(["a", "b"]), 10, Characters(size=4, widths=(6,), filters=1))
    one, other = wide(torch.tensor([[RESERVED, RESERVED + 1]]))[0]
    assert torch.isfinite(one).all() and not torch.isclose(one, other).any()


def test_padding_is_zeros_and_teaches_nothing() -> None:
    embedding = made()
    out = embedding(torch.tensor([[RESERVED, PAD]]))
    assert (out[0, 1] == 0).all() and (out[0, 0] != 0).all()
    (slope,) = torch.autograd.grad(out[0, 1].sum(), embedding.weight)
    assert (slope == 0).all()


def test_a_shut_highway_lets_everything_through_and_an_open_one_nothing() -> None:
    highway = Highway(5).double()
    assert (highway.gate.bias == -2).all()
    y = torch.randn(3, 5).double()
    assert not torch.allclose(highway(y), y)
    torch.nn.init.constant_(highway.gate.bias, -torch.inf)
    torch.testing.assert_close(highway(y), y)
    torch.nn.init.constant_(highway.gate.bias, torch.inf)
    torch.testing.assert_close(highway(y), highway.change(y).relu())


def test_a_hybrid_has_rows_for_the_frequent_and_spells_the_rest() -> None:
    hybrid = made(Hybrid(size=4, widths=(1, 2), filters=3, frequent=RESERVED + 2))
    assert isinstance(hybrid, HybridEmbedding)
    ids = torch.tensor([[RESERVED, RESERVED + 1, RESERVED + 2, RESERVED + 3]])
    found = hybrid(ids)[0]
    torch.testing.assert_close(found[:2], hybrid.frequent(ids[:, :2])[0])
    torch.testing.assert_close(found[2:], hybrid.spell(hybrid.spelling[ids[0, 2:]]))
    with pytest.raises(UsageError, match="set model.words=table"):
        Hybrid(frequent=100).build(TOKENIZER, 10)


def test_what_is_spelt_is_not_tied_to_the_softmax() -> None:
    config = TransformerLMConfig(dim=16, heads=2, ff=16, layers=1, words=SMALL)
    model = build(config, {"targets": TOKENIZER}, True, Smoothing())
    assert isinstance(model.targets, Spelled)
    assert model.head.embedding.weight.shape == (TOKENIZER.size, 16)
    assert not any("spelling" in name for name in model.state_dict())


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"widths": ()}, "widths"), ({"filters": 0}, "widths"), ({"longest": 2}, "3 or more, got 2")],
    ids=str,
)
def test_filters_that_cannot_be_are_refused(changes, said) -> None:
    with pytest.raises(UsageError, match=said):
        Characters(**changes)

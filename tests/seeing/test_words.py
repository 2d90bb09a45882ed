import numpy as np
import pytest

from heedful.seeing.words import Side, alone, joined, side
from heedful.text.chorale import ChoraleTokenizer
from heedful.text.performance import PerformanceTokenizer
from heedful.text.specials import EOS, RESERVED
from heedful.text.symbols import SymbolTokenizer
from heedful.text.tagged import Addressed, TaggedTokenizer


@pytest.mark.parametrize("name", ["subwords", "characters"])
def test_subwords_and_characters_are_joined_into_words(name: str, request) -> None:
    tokenizer = request.getfixturevalue(name)
    found = side(tokenizer, [*tokenizer.encode("The cow wasn't hungry, it was."), EOS])
    assert len(found.tokens) > len(found.joined)
    assert found.joined == ["The", "cow", "wasn't", "hungry", ",", "it", "was", ".", "<eos>"]


def test_symbols_are_words() -> None:
    found = side(SymbolTokenizer(4), [3, 4, 4, EOS])
    assert found.joined == ["0", "1", "1", "<eos>"]


@pytest.mark.parametrize("tokenizer", [PerformanceTokenizer(), ChoraleTokenizer()])
def test_every_symbol_of_music_is_a_word(tokenizer) -> None:
    ids = range(RESERVED + 5, RESERVED + 8)
    assert side(tokenizer, ids).joined == tokenizer.pieces(ids)


def test_a_tag_is_a_word(subwords) -> None:
    tokenizer = TaggedTokenizer(subwords, ["fr"])
    found = side(tokenizer, tokenizer.encode(Addressed("cow", "fr")))
    assert found.joined[0] == "<2fr>" and "".join(found.joined[1:]) == "cow"


def test_weights_are_summed_over_keys_and_averaged_over_queries() -> None:
    queries, keys = Side(("a", "b", "c"), (0, 0, 1)), Side(("x", "y", "z"), (0, 1, 1))
    weights = np.array([[0.2, 0.3, 0.5], [0.4, 0.0, 0.6], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(joined(weights, queries, keys), [[0.3, 0.7], [1.0, 0.0]])


def test_sides_go_on_counting() -> None:
    both = alone("<start>") + Side(("c", "ow"), (0, 0))
    assert both.words == (0, 1, 1) and both.joined == ["<start>", "cow"]

"""Vocabularies for other libraries: a name for every id, no two the same."""

import pytest

from heedful.interop import ctranslate2
from heedful.interop.parity import distance, log_probabilities, made_up
from heedful.interop.tokenizer import names
from heedful.text.bytes import ByteTokenizer
from heedful.text.chars import CharacterTokenizer
from heedful.text.subwords import Subwords
from heedful.text.symbols import SymbolTokenizer
from heedful.text.words import WordTokenizer

from .conftest import DECODE, Make


def test_names_are_what_a_person_would_see() -> None:
    assert names(SymbolTokenizer(2)) == ["⟨pad⟩", "⟨eos⟩", "⟨unk⟩", "0", "1"]
    assert names(CharacterTokenizer("↵\n a"))[3:] == ["↵", "⟨4⟩", " ", "a"]
    assert names(WordTokenizer(["⟨pad⟩", "b"]))[3:] == ["⟨3⟩", "b"]
    assert names(ByteTokenizer())[3 + 0x41] == "A"


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram"])
def test_names_of_subwords_are_their_pieces_by_id(algorithm) -> None:
    tokenizer = Subwords(algorithm=algorithm, size=530).train(["the cat likes the dog"] * 4)
    found = names(tokenizer)
    assert len(set(found)) == tokenizer.size
    written = "".join(found[i].removeprefix("‿") for i in tokenizer.encode("the dog"))
    assert written == "theĠdog"


@pytest.mark.parametrize(
    "vocabulary", [ByteTokenizer(), CharacterTokenizer("↵\n a"), WordTokenizer(["⟨pad⟩", "b"])]
)
def test_every_vocabulary_can_be_scored_with(vocabulary, make: Make, tmp_path) -> None:
    pytest.importorskip("ctranslate2")
    model, _ = make("transformer_demo", sizes=(vocabulary.size, vocabulary.size))
    both = {"inputs": vocabulary, "targets": vocabulary}
    ctranslate2.write(model, both, DECODE, tmp_path)
    pairs = made_up(model)
    theirs = ctranslate2.log_probabilities(tmp_path, pairs, both)
    assert distance(log_probabilities(model, pairs), theirs) < 1e-4

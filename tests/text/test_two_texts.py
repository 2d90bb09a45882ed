"""Two texts are told apart by an end symbol, and a vocabulary is the same for one and for two."""

from pathlib import Path

import pytest

from heedful.errors import HeedfulError
from heedful.text import files
from heedful.text.specials import EOS
from heedful.text.subwords import Subwords
from heedful.text.two_texts import TwoTexts
from heedful.text.words import Words

TEXTS = ["a b\tb c", "c\td"]


def test_an_end_symbol_stands_between() -> None:
    two = TwoTexts(Words()).train(TEXTS)
    a, b, c = (two.plain.encode(word)[0] for word in "abc")
    assert two.encode("a b\tb c") == [a, b, EOS, b, c]
    assert two.encode("a") == [a]
    assert two.encode_many(TEXTS)[0] == two.encode(TEXTS[0])
    assert two.decode([a, b, EOS, b, c, EOS]) == "a b\tb c"
    assert two.pieces([a, EOS, c]) == ["a", "<eos>", "c"]


def test_it_cuts_as_its_vocabulary_alone_does() -> None:
    two = TwoTexts(Subwords(size=300)).train(TEXTS * 9)
    plain = Subwords(size=300).train([part for text in TEXTS * 9 for part in text.split("\t")])
    assert two.size == plain.size and two.encode("c d") == plain.encode("c d")


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    two = TwoTexts(Words()).train(TEXTS)
    two.save(tmp_path / "text.json")
    again = files.load(tmp_path / "text.json")
    assert again.encode("a b\tb c") == two.encode("a b\tb c")
    assert again.kind == "two_texts"


def test_a_third_text_is_an_error() -> None:
    with pytest.raises(HeedfulError, match="'a…' is the first of 3"):
        TwoTexts(Words()).train(TEXTS).encode("a\tb\tc")

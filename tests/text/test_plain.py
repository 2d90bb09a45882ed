"""Bytes, characters, words and symbols: what comes back, what is unknown, what is refused."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heedful.config import from_json, to_json
from heedful.errors import HeedfulError, UsageError
from heedful.text import files
from heedful.text.base import Text, Tokenizer
from heedful.text.bytes import Bytes
from heedful.text.chars import Characters
from heedful.text.specials import EOS, PAD, RESERVED, UNK, UNKNOWN
from heedful.text.symbols import Symbols
from heedful.text.words import Words

LINES = ["b a b\tc", "a b  <eos>", "été\n"]
PLAIN: list[Text] = [Bytes(), Characters(), Words(), Words(5), Symbols(4)]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@example(text="\0 \t\r\n <eos> e\u0301 👩‍👩‍👧")
def test_bytes_bring_any_text_back(text: str) -> None:
    tokenizer = Bytes().train([])
    assert tokenizer.lossless
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode(text) == [byte + RESERVED for byte in text.encode()]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), other=st.characters())
def test_characters_bring_back_those_they_know(text: str, other: str) -> None:
    tokenizer = Characters().train([text])
    assert tokenizer.size == RESERVED + len(set(text))
    assert tokenizer.decode(tokenizer.encode(text)) == text
    if other not in text and not "\ud800" <= other <= "\udfff":
        assert tokenizer.encode(other) == [UNK]
        assert tokenizer.decode([UNK]) == UNKNOWN


@given(words=st.lists(st.sampled_from(["b", "a", "c", "<eos>", "été"])))
def test_words_bring_back_those_they_know(words: list[str]) -> None:
    tokenizer = Words().train(LINES)
    assert tokenizer.decode(tokenizer.encode(" ".join(words))) == " ".join(words)
    assert min(tokenizer.encode(" ".join(words)), default=RESERVED) >= RESERVED


@given(numbers=st.lists(st.integers(0, 11)))
def test_symbols_are_numbers_in_a_list_or_in_a_text(numbers: list[int]) -> None:
    tokenizer = Symbols(12).train([])
    text = " ".join(map(str, numbers))
    assert tokenizer.encode(numbers) == tokenizer.encode(text) == [n + RESERVED for n in numbers]
    assert tokenizer.decode(tokenizer.encode(numbers)) == text
    assert tokenizer.size == RESERVED + 12


@pytest.mark.parametrize("wrong", ["12", "-1", "x", "⁇", "1.5"])
def test_what_is_no_symbol_is_an_error(wrong: str) -> None:
    with pytest.raises(HeedfulError, match=f"'{wrong}' is not one of .* 0 to 11"):
        Symbols(12).train([]).encode(f"1 {wrong}")


def test_words_are_ranked_by_count_and_then_by_spelling() -> None:
    assert Words().train(LINES).words == ["b", "a", "<eos>", "c", "été"]
    small = Words(5).train(LINES)
    assert (small.size, small.words) == (5, ["b", "a"])
    assert small.decode(small.encode("a c b")) == f"a {UNKNOWN} b"


@pytest.mark.parametrize("make", [lambda: Words(3), lambda: Words(-1), lambda: Symbols(0)])
def test_sizes_that_cannot_be_are_refused(make: type) -> None:
    with pytest.raises(UsageError, match="size"):
        make()


@pytest.mark.parametrize("text", [Bytes(), Characters(), Words()], ids=lambda t: t.kind)
def test_names_of_special_ids_are_only_text(text: Text) -> None:
    tokenizer = text.train(["<pad> <eos> <unk>"])
    assert min(tokenizer.encode("<pad> <eos> <unk>")) >= RESERVED
    assert tokenizer.decode(tokenizer.encode("<pad> <eos> <unk>")) == "<pad> <eos> <unk>"


@pytest.mark.parametrize("text", [Bytes(), Characters(), Words()], ids=lambda t: t.kind)
def test_half_a_surrogate_pair_is_an_error(text: Text) -> None:
    with pytest.raises(HeedfulError, match="surrogate"):
        text.train(["ab"]).encode("a\udfff")


@pytest.mark.parametrize("text", [Characters(), Words()], ids=lambda t: t.kind)
def test_training_needs_text_that_can_be_written(text: Text) -> None:
    with pytest.raises(HeedfulError, match="surrogate"):
        text.train(["a\udfff"])
    with pytest.raises(HeedfulError, match="no text to make a vocabulary from"):
        text.train(iter([""]))


def trained(text: Text) -> Tokenizer:
    return text.train(iter(LINES))


@pytest.mark.parametrize("text", PLAIN, ids=str)
def test_a_saved_vocabulary_is_the_same_when_loaded(text: Text, tmp_path: Path) -> None:
    tokenizer = trained(text)
    tokenizer.save(tmp_path / "vocab.json")
    loaded = files.load(tmp_path / "vocab.json")
    assert type(loaded) is type(tokenizer)
    assert (loaded.size, loaded.to_json()) == (tokenizer.size, tokenizer.to_json())
    everything = range(tokenizer.size)
    assert loaded.pieces(everything) == tokenizer.pieces(everything)
    assert loaded.decode(everything) == tokenizer.decode(everything)
    lines = ["0 1 2"] if isinstance(text, Symbols) else LINES
    assert loaded.encode_many(lines) == [tokenizer.encode(line) for line in lines]


@pytest.mark.parametrize("text", PLAIN, ids=str)
def test_special_ids_come_first_and_padding_and_end_say_nothing(text: Text) -> None:
    tokenizer = trained(text)
    assert tokenizer.pieces([PAD, EOS, UNK]) == ["<pad>", "<eos>", "<unk>"]
    assert tokenizer.decode([PAD, EOS, PAD]) == ""
    assert tokenizer.decode([RESERVED, EOS]) == tokenizer.decode([RESERVED])
    for wrong in (-1, tokenizer.size):
        with pytest.raises(HeedfulError, match=f"id {wrong} is not in this vocabulary"):
            tokenizer.pieces([wrong])


@pytest.mark.parametrize("text", PLAIN, ids=str)
def test_a_kind_of_text_is_written_in_a_config(text: Text) -> None:
    assert from_json(Text, to_json(text)) == text


def test_pieces_can_be_read() -> None:
    characters = Characters().train(["\n\t\0a é"])
    assert characters.pieces(characters.encode("\n\t\0a é")) == ["↵", "⇥", "<00>", "a", " ", "é"]
    letters = Bytes().train([])
    assert letters.pieces(letters.encode("aé")) == ["a", "<C3>", "<A9>"]

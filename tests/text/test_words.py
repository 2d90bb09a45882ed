"""Words are counted, and lines of a text end with the end symbol."""

from pathlib import Path

from heedful.text.files import load
from heedful.text.specials import EOS, RESERVED, UNK
from heedful.text.words import Words, WordTokenizer

TEXTS = ["b a\nb c", "b"]


def test_how_often_each_id_is_in_the_training_text() -> None:
    tokenizer = Words().train(TEXTS)
    assert tokenizer.words == ["b", "a", "c"] and tokenizer.counts == [0, 3, 0, 3, 1, 1]
    small = Words(RESERVED + 1).train(TEXTS)
    assert small.words == ["b"] and small.counts == [0, 3, 2, 3]


def test_ids_are_in_the_order_of_frequency() -> None:
    counts = Words().train(["c c c b b a", "b c"]).counts
    assert counts is not None
    assert counts[RESERVED:] == sorted(counts[RESERVED:], reverse=True)


def test_each_line_but_the_last_ends_with_the_end_symbol() -> None:
    tokenizer = Words().train(TEXTS)
    b, a = RESERVED, RESERVED + 1
    assert tokenizer.encode("b a\n\nz b") == [b, a, EOS, EOS, UNK, b]
    assert tokenizer.encode("b\n") == [b, EOS]
    assert tokenizer.decode(tokenizer.encode("b a\nb")) == "b a b"


def test_counts_are_kept_in_the_file_and_a_file_without_them_is_read(tmp_path: Path) -> None:
    for tokenizer in (Words().train(TEXTS), WordTokenizer(["b"])):
        tokenizer.save(tmp_path / "words.json")
        again = load(tmp_path / "words.json")
        assert isinstance(again, WordTokenizer)
        assert (again.words, again.counts) == (tokenizer.words, tokenizer.counts)
    assert "counts" not in (tmp_path / "words.json").read_text()

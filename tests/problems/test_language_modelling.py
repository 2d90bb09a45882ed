"""Long texts: cut between lines, nothing lost, and counted as published perplexities count."""

import lzma
import random
from pathlib import Path

import pytest

from heedful.config import vary
from heedful.data.preparation import prepare, source_of
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.language_modelling import OwnText
from heedful.registry import problems
from heedful.text.bytes import Bytes
from heedful.text.chars import Characters
from heedful.text.specials import EOS

REAL = Path(__file__).parents[2].parent / "shared" / "data"
real = pytest.mark.skipif(
    not (REAL / "ptb").is_dir(), reason="no real corpora in ../shared/data, beside the checkout"
)
LINES = ["one two", "", "three", "four five six", "seven " * 9, "eight"]


def test_pieces_are_whole_lines_and_hold_as_many_as_fit() -> None:
    pieces = list(OwnText(piece=6).pieces(LINES))
    assert pieces == ["one two\n\nthree", "four five six", "seven " * 9, "eight"]
    assert "\n".join(pieces).split("\n") == LINES


@pytest.mark.parametrize("text", [Characters(), Bytes()], ids=lambda text: text.kind)
def test_of_characters_a_long_line_is_cut(text) -> None:
    problem = OwnText(piece=10, text=text)
    pieces = list(problem.pieces(["z", "é" * 21, "a", "b"]))
    size = len if text.kind == "characters" else (lambda piece: len(piece.encode()))
    assert all(size(piece) + 1 <= 10 for piece in pieces)
    assert pieces[0] == "z" and pieces[-1].endswith("é\na\nb")
    assert "".join(pieces[1:]) == "é" * 21 + "\na\nb"  # no break where the line has none


def test_every_line_ends_with_the_end_symbol_once(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("\n".join(LINES) + "\n")
    names = dict.fromkeys(("train", "valid", "test"), (str(tmp_path / "text.txt"),))
    prepared = prepare("own_text", OwnText(piece=6, **names), tmp_path / "data")
    shards = prepared.split(TEST)
    ids = [i for n in range(len(shards)) for i in shards.example(n)["targets"].tolist()]
    assert ids.count(EOS) == len(LINES)
    assert len(ids) == len(LINES) + sum(len(line.split()) for line in LINES)
    assert [len(shards.example(n)["targets"]) for n in range(4)] == [6, 4, 10, 2]


def test_what_is_held_out_is_not_trained_on(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("".join(f"line {i}\n" for i in range(400)))
    problem = OwnText(train=(str(tmp_path / "text.txt"),), piece=3, held_out=0.1)
    splits = {
        split: {e["targets"] for e in problem.examples(split, random.Random(1))}
        for split in (TRAIN, VALID, TEST)
    }
    assert sum(map(len, splits.values())) == len(set.union(*splits.values())) == 400
    assert all(20 < len(splits[split]) < 70 for split in (VALID, TEST))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: OwnText(piece=1), "piece must be 2 or more"),
        (lambda: OwnText(held_out=0.7), "under 0.5"),
        (lambda: OwnText().files(), "--set problem.train=corpus.txt"),
    ],
)
def test_what_cannot_be_is_refused(make, said) -> None:
    with pytest.raises(UsageError, match=said):
        make()


def test_too_little_text_to_hold_some_out_is_said(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("one\n")
    problem = OwnText(train=(str(tmp_path / "text.txt"),), held_out=0.01)
    with pytest.raises(HeedfulError, match="fell to the valid split"):
        list(problem.examples(VALID, random.Random(1)))


def test_a_text_in_one_file_is_split_by_place(tmp_path: Path, monkeypatch) -> None:
    """Nine tenths, and half of the last for each of two."""
    problem = problems.get("tinyshakespeare")()
    path = tmp_path / "input.txt.xz"
    lines = [f"{i:04d}" for i in range(200)]
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))
    found = {
        split: list(problem.lines(split, {problem.file.name: path}))
        for split in (TRAIN, VALID, TEST)
    }
    assert list(map(len, found.values())) == [180, 10, 10]
    assert sum(found.values(), []) == lines
    with pytest.raises(HeedfulError, match="heedful prepare"):
        problem.examples(TRAIN, random.Random(1))


@real
@pytest.mark.parametrize(
    ("name", "split", "tokens", "size"),
    [("ptb", TEST, 82_430, 10_002), ("wikitext2", VALID, 217_646, 33_280)],
)
def test_the_real_ones_have_as_many_words_as_published(
    name, split, tokens, size, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    problem = problems.get(name)()
    read = source_of(problem, tmp_path)
    pieces = [example["targets"] for example in read(split, random.Random(1))]
    assert sum(len(line.split()) + 1 for piece in pieces for line in piece.split("\n")) == tokens
    words = problem.text.train(e["targets"] for e in read(TRAIN, random.Random(1)))
    assert words.size == size
    assert max(len(words.encode(piece)) for piece in pieces) < 1_024


@real
def test_a_real_one_is_prepared(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    info = prepare("ptb", problems.get("ptb")(), tmp_path).info
    tokens = {split: info["splits"][split]["tokens"]["targets"] for split in (TRAIN, VALID, TEST)}
    assert tokens == {TRAIN: 929_589, VALID: 73_760, TEST: 82_430}
    assert all(info["splits"][split]["empty"] == 0 for split in tokens)


@real
def test_the_real_bytes_and_letters_are_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    letters = source_of(problems.get("tinyshakespeare")(), tmp_path)
    total = sum(
        len(e["targets"]) + 1 for s in (TRAIN, VALID, TEST) for e in letters(s, random.Random(1))
    )
    assert total == 1_115_394
    pages = vary(problems.get("enwiki_mini")(), {"piece": 64})
    first = next(source_of(pages, tmp_path)(VALID, random.Random(1)))
    assert 0 < len(first["targets"].encode()) < 64

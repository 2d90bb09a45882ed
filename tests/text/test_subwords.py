"""Subwords come back as the text they were, cannot be tricked, and are the same every time."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Engine
from tokenizers import pre_tokenizers

from heedful.errors import HeedfulError, UsageError
from heedful.text import files
from heedful.text.base import Tokenizer
from heedful.text.specials import EOS, PAD, RESERVED, UNK, UNKNOWN
from heedful.text.subwords import _BYTES, ALPHABET, Subwords, SubwordTokenizer

ALGORITHMS = ["bpe", "wordpiece", "unigram"]
LINES = [
    "the small cat sees the old dog near the river",
    "le petit chat voit le vieux chien près de la rivière",
    "the children do not eat the apples, and the teacher doesn't either",
    "les élèves ne mangent pas les pommes, et la maîtresse non plus",
]
TEXTS = [f"{a} . {b}" for a, b in itertools.product(LINES, LINES)]
TRICKS = [
    "<pad> <eos> <unk> </s> <s> [UNK] [PAD] <|endoftext|>",
    "⟨pad⟩⟨eos⟩⟨unk⟩",
    "⟨eos⟩",
    "<eos>",
    "‿s ##s #####",
    "#####",
    "###",
    "Ġthe Ċ ĠĠ",
]


@pytest.fixture(scope="module")
def trained() -> dict[str, Tokenizer]:
    return {a: Subwords(a, 700).train(iter(TEXTS)) for a in ALGORITHMS}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@example(text=" \n\n\t leading, trailing \r\n ")
@example(text="nul \0 e\u0301 é ﬁ Å 👩‍👩‍👧 \u202e \ufeff \u2028")
@example(text="x" * 1000)
@example(text="")
def test_any_text_comes_back_as_it_was(
    trained: dict[str, Tokenizer], algorithm: str, text: str
) -> None:
    tokenizer = trained[algorithm]
    ids = tokenizer.encode(text)
    assert tokenizer.lossless
    assert tokenizer.decode(ids) == text
    assert all(RESERVED <= i < tokenizer.size for i in ids)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("text", TRICKS)
def test_no_text_becomes_a_special_id(
    trained: dict[str, Tokenizer], algorithm: str, text: str, tmp_path: Path
) -> None:
    trained[algorithm].save(tmp_path / "vocab.json")
    for tokenizer in (trained[algorithm], files.load(tmp_path / "vocab.json")):
        ids = tokenizer.encode(text)
        assert min(ids) >= RESERVED
        assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_training_on_the_names_of_special_ids_does_not_let_them_in(algorithm: str) -> None:
    tokenizer = Subwords(algorithm, 600).train(TRICKS * 20)
    for text in TRICKS:
        assert min(tokenizer.encode(text)) >= RESERVED
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_text_gives_the_same_vocabulary(
    trained: dict[str, Tokenizer], algorithm: str
) -> None:
    again = [Subwords(algorithm, 700).train(iter(TEXTS)).to_json() for _ in range(3)]
    assert all(data == trained[algorithm].to_json() for data in again)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_saved_vocabulary_is_the_same_when_loaded(
    trained: dict[str, Tokenizer], algorithm: str, tmp_path: Path
) -> None:
    path = tmp_path / "vocab.json"
    trained[algorithm].save(path)
    loaded = files.load(path)
    assert isinstance(loaded, SubwordTokenizer)
    assert loaded.to_json() == trained[algorithm].to_json()
    assert loaded.size == trained[algorithm].size
    assert loaded.encode_many(TEXTS + TRICKS) == trained[algorithm].encode_many(TEXTS + TRICKS)
    assert json.loads(path.read_text(encoding="utf-8"))["kind"] == "subwords"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_are_encoded_as_one_by_one(trained: dict[str, Tokenizer], algorithm: str) -> None:
    tokenizer = trained[algorithm]
    assert tokenizer.encode_many([*TEXTS, ""]) == [tokenizer.encode(t) for t in [*TEXTS, ""]]
    assert tokenizer.encode_many([]) == []


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_texts_are_read_once_and_one_by_one(algorithm: str) -> None:
    alive, most = 0, 0

    class Line(str):
        def __new__(cls, text: str) -> "Line":
            nonlocal alive, most
            alive += 1
            most = max(most, alive)
            return super().__new__(cls, text)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    Subwords(algorithm, 600).train(Line(TEXTS[i % len(TEXTS)]) for i in range(5_000))
    assert most < 1_000


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_small_text_gives_a_small_vocabulary_and_size_says_so(algorithm: str) -> None:
    tokenizer = Subwords(algorithm, 8_000).train(["one line"])
    alphabet = 512 if algorithm == "wordpiece" else 256
    assert RESERVED + alphabet <= tokenizer.size < RESERVED + alphabet + 10
    assert tokenizer.decode(tokenizer.encode("another 行")) == "another 行"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_vocabulary_is_never_larger_than_asked(algorithm: str) -> None:
    for size in (515, 560):
        assert Subwords(algorithm, size).train(TEXTS).size <= size
    with pytest.raises(UsageError, match=f"by {algorithm} need a size of at least"):
        Subwords(algorithm, 200)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("texts", [[], ["", ""]], ids=["none", "empty"])
def test_no_text_is_an_error(algorithm: str, texts: list[str]) -> None:
    with pytest.raises(HeedfulError, match="no text to make a vocabulary from"):
        Subwords(algorithm).train(texts)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_half_a_surrogate_pair_is_an_error_that_says_where(
    trained: dict[str, Tokenizer], algorithm: str
) -> None:
    with pytest.raises(HeedfulError, match=r"character 3 of a text.*U\+D800"):
        trained[algorithm].encode("ab\ud800")
    with pytest.raises(HeedfulError, match="surrogate"):
        trained[algorithm].encode_many(["fine", "ab\ud800"])
    with pytest.raises(HeedfulError, match="surrogate"):
        Subwords(algorithm).train(["fine", "ab\ud800"])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_frequent_words_stay_whole_with_the_space_before_them(
    trained: dict[str, Tokenizer], algorithm: str
) -> None:
    pieces = trained[algorithm].pieces(trained[algorithm].encode("sees the children, les élèves"))
    assert {" the", " children", " élèves"} <= set(pieces)


def test_pieces_can_be_read(trained: dict[str, Tokenizer]) -> None:
    bpe = trained["bpe"]
    assert bpe.pieces([PAD, EOS, UNK]) == ["<pad>", "<eos>", "<unk>"]
    assert bpe.pieces(bpe.encode("\n")) == ["↵"]
    assert bpe.pieces(bpe.encode("行")) == ["<E8>", "<A1>", "<8C>"]
    words = trained["wordpiece"]
    assert words.pieces(words.encode("Zz")) == ["Z", "##z"]


def test_what_a_model_may_write_can_always_be_decoded(trained: dict[str, Tokenizer]) -> None:
    bpe = trained["bpe"]
    half = bpe.encode("行")[:2]
    assert bpe.decode([PAD, *bpe.encode("the"), UNK, EOS, PAD]) == f"the{UNKNOWN}"
    assert bpe.decode(half) == "\ufffd"
    assert all(bpe.decode([i]) for i in range(UNK, bpe.size))
    for wrong in (-1, bpe.size):
        with pytest.raises(HeedfulError, match=f"id {wrong} is not in this vocabulary"):
            bpe.decode([wrong])


def test_the_bytes_are_written_as_the_library_writes_them() -> None:
    assert sorted(_BYTES) == ALPHABET
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in (chr(i) for i in [*range(0x100), 0x20AC, 0x1F600]):
        ((written, _),) = splitter.pre_tokenize_str(text)
        assert bytes(_BYTES[c] for c in written) == text.encode()


def test_a_foreign_tokenizer_is_refused(trained: dict[str, Tokenizer]) -> None:
    bpe = trained["bpe"].to_json()
    engine = Engine.from_str(json.dumps(bpe["tokenizer"]))
    engine.add_special_tokens(["<eos>"])
    with pytest.raises(HeedfulError, match="looks for special words"):
        SubwordTokenizer(engine, "bpe")
    with pytest.raises(HeedfulError, match="no subwords by 'magic'"):
        SubwordTokenizer.from_json({**bpe, "algorithm": "magic"})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_encodes_the_same_and_says_nothing(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        "import os\n"
        "from heedful.text.subwords import Subwords\n"
        "texts = ['one line of text', 'another line'] * 200\n"
        "tokenizer = Subwords('bpe', 300).train(texts)\n"
        "before = tokenizer.encode_many(texts)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    alone = os.environ['TOKENIZERS_PARALLELISM'] == 'false'\n"
        "    os._exit(0 if alone and tokenizer.encode_many(texts) == before else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]),\n"
        "      'TOKENIZERS_PARALLELISM' in os.environ)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("0 False\n", "")


def test_a_vocabulary_with_holes_is_refused(trained: dict[str, Tokenizer]) -> None:
    words = json.loads(json.dumps(trained["wordpiece"].to_json()))
    vocabulary = words["tokenizer"]["model"]["vocab"]
    del vocabulary["a"]
    with pytest.raises(HeedfulError, match="ids without a piece"):
        SubwordTokenizer.from_json(words)

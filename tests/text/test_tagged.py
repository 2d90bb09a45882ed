import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.config import to_json, vary
from heedful.errors import HeedfulError, UsageError
from heedful.problems.own_files import OwnFiles
from heedful.text.base import Text, Tokenizer
from heedful.text.bytes import Bytes
from heedful.text.chars import Characters
from heedful.text.files import load
from heedful.text.specials import EOS, PAD
from heedful.text.subwords import Subwords
from heedful.text.symbols import Symbols
from heedful.text.tagged import Addressed, Tagged, TaggedTokenizer, check_tag
from heedful.text.vocabulary import Vocabulary
from heedful.text.words import Words

TAGS = ("de", "pt-BR")
TEXTS = ["the cat <2de> sees", "<2de> the cats <2pt-BR>", "le chat de la mer"]
KINDS = [Bytes(), Characters(), Words(), Subwords(size=300), Subwords("unigram", 300)]


@pytest.fixture(scope="module", params=KINDS, ids=lambda text: str(text))
def pair(request: pytest.FixtureRequest) -> tuple[Tokenizer, Tokenizer]:
    """A tokenizer, and the same with tags."""
    text: Text = request.param
    return text.train(TEXTS), Tagged(text, TAGS).train(TEXTS)


def test_each_tag_is_one_id_after_all_others(pair: tuple[Tokenizer, Tokenizer]) -> None:
    plain, tagged = pair
    assert tagged.tags == TAGS and tagged.size == plain.size + 2
    assert tagged.encode(Addressed("the cat", "de")) == [plain.size, *plain.encode("the cat")]
    assert tagged.encode(Addressed("the cat", "pt-BR"))[0] == plain.size + 1
    assert tagged.encode(Addressed("", "de")) == [plain.size]


@given(st.text(st.characters(codec="utf-8")) | st.sampled_from(["<2de>", "<2de> a", "⟨2de⟩", "de"]))
def test_no_text_that_is_typed_gives_a_tag(text: str) -> None:
    for plain, tagged in MADE:
        assert tagged.encode(text) == plain.encode(text)
        assert tagged.encode_many([text]) == [plain.encode(text)]
        assert max(tagged.encode(text), default=0) < plain.size


MADE = [(text.train(TEXTS), Tagged(text, TAGS).train(TEXTS)) for text in KINDS]


def test_a_text_comes_back_addressed(pair: tuple[Tokenizer, Tokenizer]) -> None:
    _, tagged = pair
    back = tagged.decode([*tagged.encode(Addressed("the cat", "pt-BR")), EOS, PAD])
    assert back == "the cat" and isinstance(back, Addressed) and back.to == "pt-BR"
    assert not isinstance(tagged.decode(tagged.encode("the cat")), Addressed)
    middle = [*tagged.encode("the"), tagged.size - 1]
    assert tagged.decode(middle) == "the" and not isinstance(tagged.decode(middle), Addressed)
    assert tagged.pieces(middle)[-1] == "<2pt-BR>" and tagged.pieces([EOS]) == ["<eos>"]
    with pytest.raises(HeedfulError, match="is not in this vocabulary"):
        tagged.decode([tagged.size])


def test_many_texts_are_encoded_as_one_by_one(pair: tuple[Tokenizer, Tokenizer]) -> None:
    _, tagged = pair
    texts = [Addressed("the cat", "de"), "the cat", Addressed("la mer", "pt-BR")]
    assert tagged.encode_many(texts) == [tagged.encode(text) for text in texts]


def test_it_is_kept_in_one_file(pair: tuple[Tokenizer, Tokenizer], tmp_path: Path) -> None:
    plain, tagged = pair
    tagged.save(tmp_path / "vocab.json")
    loaded = load(tmp_path / "vocab.json")
    assert isinstance(loaded, TaggedTokenizer) and loaded.tags == TAGS
    assert (loaded.size, loaded.kind, loaded.lossless) == (tagged.size, plain.kind, plain.lossless)
    address = Addressed("the cats", "de")
    assert loaded.encode(address) == tagged.encode(address)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "vocab.json").read_bytes()
    plain.save(tmp_path / "plain.json")
    assert load(tmp_path / "plain.json").tags == ()


@pytest.mark.parametrize("tags", [["de", "de"], ["<2de>"], 7, [7]], ids=str)
def test_a_damaged_list_of_tags_is_said(tags: object, tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(json.dumps({"format": 1, "kind": "bytes", "tags": tags}))
    with pytest.raises(HeedfulError, match="vocab.json"):
        load(path)


def test_an_unknown_language_names_the_nearest_and_all() -> None:
    tokenizer = TaggedTokenizer(Bytes().train([]), ("deu", "fra"))
    with pytest.raises(UsageError, match="no tag for the language 'de'. Close: deu. .*: deu, fra$"):
        tokenizer.encode(Addressed("a", "de"))


@pytest.mark.parametrize("tag", ["de", "pt-BR", "zh_Hans", "x1", "a" * 32])
def test_what_may_be_a_tag(tag: str) -> None:
    check_tag(tag)


@pytest.mark.parametrize(
    "tag", ["", " ", "<2de>", "de fr", "de,", "-de", "de-", "d..e", "../de", "dé", "a" * 33, "de\n"]
)
def test_what_may_not(tag: str) -> None:
    with pytest.raises(UsageError, match="cannot be the tag of a language"):
        check_tag(tag)


def test_tags_of_another_run_keep_their_ids_and_new_ones_come_after(tmp_path: Path) -> None:
    before = Tagged(Subwords(size=300), ("de", "fr")).train(TEXTS)
    before.save(tmp_path / "vocab.json")
    after = Tagged(Vocabulary(str(tmp_path / "vocab.json")), ("cs", "fr")).train(["other text"])
    assert after.tags == ("de", "fr", "cs") and after.size == before.size + 1
    for tag in before.tags:
        assert after.encode(Addressed("the cat", tag)) == before.encode(Addressed("the cat", tag))


def test_it_cannot_be_extended(tmp_path: Path) -> None:
    Tagged(Subwords(size=300), TAGS).train(TEXTS).save(tmp_path / "vocab.json")
    with pytest.raises(UsageError, match="tags .de, pt-BR. cannot be extended"):
        Vocabulary(str(tmp_path / "vocab.json"), extend=5).train(["zwölf Boxkämpfer"] * 9)


def test_symbols_can_be_addressed_too() -> None:
    tokenizer = Tagged(Symbols(4), ("back",)).train([])
    assert tokenizer.encode(Addressed("0 3", "back")) == [7, 3, 6]


def test_it_is_part_of_what_prepared_data_depends_on_and_not_for_users_to_choose() -> None:
    assert to_json(Tagged(Bytes(), TAGS)) == {
        "kind": "tagged",
        "text": {"kind": "bytes"},
        "tags": list(TAGS),
    }
    with pytest.raises(UsageError, match="text has no kind 'tagged'"):
        vary(OwnFiles(), {"text": "tagged"})

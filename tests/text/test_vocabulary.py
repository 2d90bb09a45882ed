import pytest

from heedful.config import from_json, to_json
from heedful.errors import HeedfulError, UsageError
from heedful.text.base import Text
from heedful.text.extension import extend, merges
from heedful.text.files import load
from heedful.text.subwords import Subwords
from heedful.text.vocabulary import Vocabulary
from heedful.text.words import Words

OLD = ["the cat sleeps", "the cat eats", "a dog sleeps"] * 20
NEW = ["electroencephalography helps", "electroencephalography hurts", "der Hund schläft"] * 20


@pytest.fixture
def base():
    return Subwords(size=300).train(OLD)


def test_an_extended_vocabulary_keeps_its_ids_and_cuts_new_words_shorter(base) -> None:
    wider = extend(base, NEW, 30)
    assert wider.size == base.size + 30
    assert wider.pieces(range(base.size)) == base.pieces(range(base.size))
    word = "electroencephalography"
    assert len(wider.encode(word)) < len(base.encode(word)) / 3
    for text in [*OLD, *NEW, "ünïcode ☃\n"]:
        assert wider.decode(wider.encode(text)) == text


def test_what_was_learnt_whole_stays_whole(base) -> None:
    assert extend(base, NEW, 30).encode("the cat") == base.encode("the cat")


def test_extending_stops_when_nothing_repeats(base) -> None:
    wider = extend(base, ["xyz"], 1_000)
    assert wider.size == base.size


def test_merges_come_by_frequency_and_then_by_name() -> None:
    words = [(["a", "b", "c"], 3), (["b", "c"], 2), (["x", "y"], 3)]
    assert list(merges(words)) == [("b", "c"), ("a", "bc"), ("x", "y")]
    assert words[0][0] == ["abc"]


def test_a_pair_that_overlaps_itself_is_joined_from_the_left() -> None:
    words = [(["a", "a", "a", "a", "a"], 2)]
    list(merges(words))
    assert words[0][0] == ["aaaaa"]


def test_only_byte_pairs_can_be_extended() -> None:
    with pytest.raises(UsageError, match="this one is of unigram"):
        extend(Subwords(algorithm="unigram", size=270).train(OLD), NEW, 3)
    with pytest.raises(UsageError, match="this one is of words"):
        extend(Words().train(OLD), NEW, 3)


def test_a_vocabulary_is_taken_from_its_file_and_known_by_its_content(base, tmp_path) -> None:
    path = tmp_path / "shared.json"
    base.save(path)
    spec = Vocabulary(path=str(path))
    assert spec.train([]).encode("the cat") == base.encode("the cat")
    assert from_json(Text, to_json(spec)) == spec
    assert Vocabulary(path=str(path), extend=9).train(NEW).size == base.size + 9
    extend(base, NEW, 5).save(path)
    assert Vocabulary(path=str(path)) != spec
    with pytest.raises(HeedfulError, match="content has changed"):
        spec.train([])
    assert load(path).size == base.size + 5


def test_a_vocabulary_without_a_path_says_what_to_set() -> None:
    with pytest.raises(HeedfulError, match=r"problem\.text\.path="):
        Vocabulary().train([])
    with pytest.raises(HeedfulError, match="cannot read the vocabulary"):
        Vocabulary(path="nowhere.json").train([])

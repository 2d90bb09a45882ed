import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.seeing.attention import look
from heedful.seeing.coreference import coreference
from heedful.seeing.words import joined

ONE = "The cow ate the hay because it was delicious."
OTHER = "The cow ate the hay because it was hungry."


def test_heads_that_change_most_come_first(make) -> None:
    translator = make()
    pair = coreference(translator, ONE, OTHER)
    assert [side["words"][side["place"]] for side in pair["sides"]] == ["it", "it"]
    assert [side["words"][pair["changed"]] for side in pair["sides"]] == ["delicious", "hungry"]
    assert len(pair["heads"]) == 4
    changes = [head["change"] for head in pair["heads"]]
    assert changes == sorted(changes, reverse=True) and changes[0] > 0

    first = pair["heads"][0]
    one = look(translator, ONE).of("encoder")
    seen = joined(one.layers[first["layer"]].weights[first["head"]], one.queries, one.keys)
    np.testing.assert_allclose(first["weights"][0], seen[pair["sides"][0]["place"]], atol=1e-6)
    moved = np.abs(np.subtract(*first["weights"])).sum() / 2
    assert first["change"] == pytest.approx(moved)


def test_of_several_the_word_nearest_to_the_change_looks(make) -> None:
    pair = coreference(make(), "it ate it because it was hungry", "it ate it because it was hay")
    assert pair["sides"][0]["place"] == 4


@pytest.mark.parametrize(
    ("against", "word", "said"),
    [
        ("The cow ate.", "it", "must differ in one word: the first has 11 words, the other 5"),
        (ONE, "it", "differ in 0"),
        (OTHER.replace("cow", "hay"), "it", "differ in 2"),
        (OTHER, "she", "there is no word 'she' in the text. It has: The, cow"),
    ],
)
def test_what_cannot_be_compared_is_said(make, against: str, word: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        coreference(make(), ONE, against, word)


def test_pooled_keys_are_no_words(make) -> None:
    with pytest.raises(UsageError, match="joined from several tokens"):
        coreference(make(pool="strided:3"), ONE, OTHER)

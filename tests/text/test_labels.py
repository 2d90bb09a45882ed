"""A label is one symbol, and one that is not known is an error."""

from pathlib import Path

import pytest

from heedful.config import from_json, to_json
from heedful.errors import HeedfulError, UsageError
from heedful.text import files
from heedful.text.base import Text
from heedful.text.labels import Labels
from heedful.text.specials import EOS, RESERVED


def test_labels_are_those_of_the_training_texts_in_order() -> None:
    labels = Labels().train(["spam", "ham ", "spam", "", "eggs"])
    assert labels.labels == ("eggs", "ham", "spam") and labels.size == RESERVED + 3
    assert labels.encode("ham") == [RESERVED + 1] and labels.encode(" ham\n") == [RESERVED + 1]
    assert labels.encode("") == []
    assert labels.decode([RESERVED + 2, EOS]) == "spam"
    assert labels.pieces([RESERVED, EOS]) == ["eggs", "<eos>"]


def test_named_labels_keep_their_order_whatever_is_trained_on() -> None:
    assert Labels(names=("no", "yes")).train(["yes"]).labels == ("no", "yes")


def test_labels_come_back_from_their_file(tmp_path: Path) -> None:
    labels = Labels().train(["två ord", "ett"])
    labels.save(tmp_path / "labels.json")
    again = files.load(tmp_path / "labels.json")
    assert again.decode(labels.encode("två ord")) == "två ord"
    assert from_json(Text, to_json(Labels(names=("a", "b")))) == Labels(names=("a", "b"))


def test_a_label_that_was_never_seen_is_an_error() -> None:
    labels = Labels().train(["good", "bad"])
    with pytest.raises(
        HeedfulError, match=r"'goood' is not a label .* Close: good\. .*: bad, good"
    ):
        labels.encode("goood")


def test_one_label_is_none_to_tell_apart() -> None:
    with pytest.raises(HeedfulError, match="'x' is the only label"):
        Labels().train(["x", "x"])
    with pytest.raises(UsageError, match="'x' is the only label"):
        Labels(names=("x",))
    with pytest.raises(HeedfulError, match="no training text has a label"):
        Labels().train(["", " "])


@pytest.mark.parametrize(
    ("names", "says"), [(("a", "a"), "named twice"), (("a", " b"), "spaces"), (("a", ""), "empty")]
)
def test_names_that_cannot_be_labels_are_refused(names, says) -> None:
    with pytest.raises(UsageError, match=says):
        Labels(names=names)


def test_a_column_of_texts_is_not_one_of_labels(monkeypatch) -> None:
    monkeypatch.setattr("heedful.text.labels.MOST", 5)
    with pytest.raises(HeedfulError, match="more than 5 different labels. Is another column meant"):
        Labels().train(str(i) for i in range(10))

"""Why one output has several scores."""

import pytest

from heedful.errors import HeedfulError
from heedful.metrics.base import metrics, score
from heedful.metrics.explain import CHANGES, explain

SAID = ["Die katze schläft auf dem Sofa.", "Ein S-Bahn-Zug hält hier, hat's geheißen."]
MEANT = ["Die Katze schläft auf dem Sofa.", "Ein S-Bahn-Zug hielt hier, hat's geheißen."]


def test_every_bleu_is_explained_and_the_one_to_cite_comes_first():
    readings = explain(SAID, MEANT)
    assert [reading.name for reading in readings] == list(CHANGES)
    assert set(CHANGES) == set(metrics.names("bleu*"))
    assert readings[0].name == "bleu" and readings[0].difference == 0 and not readings[0].changes
    assert all(reading.changes for reading in readings[1:])


def test_values_and_signatures_are_those_of_the_metrics():
    found = score(SAID, MEANT, CHANGES, others=[MEANT])
    for reading in explain(SAID, MEANT, [MEANT]):
        assert {"value": reading.value, "signature": reading.signature} == found[reading.name]
        assert reading.difference == reading.value - found["bleu"]["value"]
        assert reading.because == metrics.describe(reading.name)
        assert reading.because.endswith(".") and len(reading.because) < 130


def test_what_changes_is_what_the_signature_says():
    readings = {reading.name: reading for reading in explain(SAID, MEANT)}
    cited = readings["bleu"].signature.split("|")
    for reading in readings.values():
        parts = {part.partition(":")[0] for part in reading.signature.split("|")}
        changed = {
            part.partition(":")[0]
            for part in set(reading.signature.split("|")) - set(cited)
            if part.partition(":")[0] in parts
        }
        said = {"tokens": "tok", "smoothing": "smooth", "case": "case", "compounds": "tok"}
        assert changed == {said[word] for word in reading.changes.split(", ") if word}


def test_the_line_that_is_read_in_most_ways_is_shown():
    tokens = {reading.name: reading.tokens for reading in explain(SAID, MEANT)}
    assert tokens["bleu"] == "Ein S-Bahn-Zug hält hier , hat's geheißen ."
    assert tokens["bleu_lowercase"] == "ein s-bahn-zug hält hier , hat's geheißen ."
    assert tokens["bleu_tokenized"] == SAID[1]
    assert tokens["bleu_multi30k_fr"] == "ein s-bahn-zug hält hier , hat' s geheißen ."


def test_lines_must_pair_up():
    with pytest.raises(HeedfulError, match="2 hypotheses for 1 references"):
        explain(SAID, MEANT[:1])

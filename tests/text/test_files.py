"""A file that is no vocabulary says so."""

import json
from pathlib import Path

import pytest

from heedful.errors import HeedfulError
from heedful.text import files
from heedful.text.base import Text
from heedful.text.subwords import Subwords


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is no JSON file"),
        ("{", "is no JSON file"),
        ("[" * 100_000, "is no JSON file"),
        ("[1]", 'has no "kind"'),
        ('{"kind": 3}', 'has no "kind"'),
        ('{"format": 1, "kind": "word"}', "kind 'word'. Close: words"),
        ('{"format": 2, "kind": "words", "words": []}', "format 2 .* reads format 1"),
        ('{"kind": "bytes"}', "format None"),
        ('{"format": 1, "kind": "words"}', "damaged vocabulary of words"),
        ('{"format": 1, "kind": "symbols", "symbols": "x"}', "damaged vocabulary of symbols"),
        ('{"format": 1, "kind": "characters", "characters": 3}', "damaged"),
        ('{"format": 1, "kind": "subwords", "algorithm": "bpe", "tokenizer": {}}', "damaged"),
        (
            '{"format": 1, "kind": "two_texts", "plain": {"kind": "no"}}',
            "damaged vocabulary of two_",
        ),
        ('{"format": 1, "kind": "subwords", "algorithm": "x"}', ": there are no subwords"),
    ],
)
def test_what_is_no_vocabulary_is_refused(content: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(content)
    with pytest.raises(HeedfulError, match=reason) as caught:
        files.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_a_folder_and_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match="cannot read the vocabulary .*: No such file"):
        files.load(tmp_path / "none.json")
    with pytest.raises(HeedfulError, match="cannot read the vocabulary"):
        files.load(tmp_path)
    (tmp_path / "vocab.json").write_bytes(b"\xff\xfe")
    with pytest.raises(HeedfulError, match="is no JSON file"):
        files.load(tmp_path / "vocab.json")


def test_every_kind_of_text_can_be_loaded() -> None:
    assert set(files.KINDS) == set(Text.choices) - {"vocabulary"}  # which is one of the others


def test_a_vocabulary_is_written_for_people_too(tmp_path: Path) -> None:
    Subwords("bpe", 300).train(["né né né"]).save(tmp_path / "vocab.json")
    data = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    assert list(data) == ["format", "kind", "algorithm", "tokenizer"]
    assert data["tokenizer"]["added_tokens"] == []

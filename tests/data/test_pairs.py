"""Files that hold both sides of a pair."""

import gzip
from pathlib import Path

import pytest

from heedful.data.pairs import read_pairs
from heedful.errors import HeedfulError, UsageError

PAIRS = [("a cat", "un chat"), ('the "dog"', "le « chien »")]


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_bytes(text.encode())
    return folder / name


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("p.tsv", "", 'a cat\tun chat\nthe "dog"\tle « chien »\n'),
        ("p.txt", "", '\ufeffa cat\tun chat\r\nthe "dog"\tle « chien »'),
        ("p.tsv", "3,1", 'un chat\t0.9\ta cat\nle « chien »\t0.8\tthe "dog"\textra\n'),
        ("p.tsv", "en,fr", 'fr\tscore\t en \nun chat\t0.9\ta cat\nle « chien »\t\tthe "dog"\n'),
        (
            "p.jsonl",
            "",
            '{"source": "a cat", "target": "un chat"}\n'
            '{"source": "the \\"dog\\"", "target": "le \\u00ab chien \\u00bb", "more": 1}\n',
        ),
        (
            "p.ndjson",
            "",
            '{"inputs": "a cat", "targets": "un chat", "src": 1, "tgt": 2}\n'
            '{"inputs": "the \\"dog\\"", "targets": "le « chien »"}\n',
        ),
        (
            "p.json",
            "",
            '{"tgt": "un chat", "src": "a cat"}\n{"src": "the \\"dog\\"", "tgt": "le « chien »"}\n',
        ),
        (
            "p.jsonl",
            "en,fr",
            '{"en": "a cat", "fr": "un chat", "source": "x", "target": "y"}\n'
            '{"en": "the \\"dog\\"", "fr": "le « chien »"}\n',
        ),
        (
            "p.jsonl",
            "translation.en,translation.fr",
            '{"translation": {"en": "a cat", "fr": "un chat"}}\n'
            '{"translation.en": "the \\"dog\\"", "translation.fr": "le « chien »"}\n',
        ),
    ],
)
def test_pairs_are_read(tmp_path: Path, name: str, fields: str, text: str) -> None:
    chosen = [field for field in fields.split(",") if field]
    assert list(read_pairs(write(tmp_path, name, text), chosen)) == PAIRS
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_pairs(tmp_path / f"{name}.gz", chosen)) == PAIRS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.tsv", "a\tb\n\n \t\nc\t\n"),
        ("p.jsonl", '{"src": "a", "tgt": "b"}\n\n{"src": " ", "tgt": ""}\n{"src":"c","tgt":null}'),
    ],
)
def test_empty_sides_are_kept_for_the_count(tmp_path: Path, name: str, text: str) -> None:
    pairs = [(a.strip(), b.strip()) for a, b in read_pairs(write(tmp_path, name, text))]
    assert pairs == [("a", "b"), ("", ""), ("", ""), ("c", "")]


@pytest.mark.parametrize(
    ("name", "fields", "text", "said"),
    [
        ("p.tsv", "", "a\tb\nc\n", "line 2 of .*p.tsv has 1 column between tabs, and column 2"),
        ("p.tsv", "", "a\tb\t\n", "line 1 of .*p.tsv has 3 columns between tabs: say which"),
        ("p.tsv", "1,4", "a\tb\tc\n", "has 3 columns between tabs, and column 4 is asked for"),
        ("p.tsv", "", '{"a": 1}\n', "If its lines are JSON, let its name end in .jsonl"),
        ("p.tsv", "en,fr", "en\tfra\na\tb\n", "no column 'fr' in its first line. Close: fra"),
        ("p.jsonl", "", '{"src": "a", "tgt": "b"}\n{"src":\n', "line 2 of .*p.jsonl is not JSON"),
        ("p.jsonl", "", "[" * 100_000, "line 1 of .*p.jsonl is not JSON: maximum recursion"),
        ("p.jsonl", "", '["a", "b"]\n', "line 1 of .*p.jsonl is not a JSON object like"),
        ("p.jsonl", "", '{"en": "a", "de": "b"}\n', "has the keys en, de: say which"),
        ("p.jsonl", "", "{}\n", r"has the keys \(none\): say which"),
        ("p.jsonl", "src,tgt", '{"srce": "a"}\n', "line 1 of .* has no 'src'. Close: srce"),
        ("p.jsonl", "t.en,t.fr", '{"t": {"en": "a"}}\n', "has no 't.fr'. It has: t"),
        ("p.jsonl", "t.en,t.fr", '{"t": "a"}\n', "has no 't.en'. It has: t"),
        ("p.jsonl", "a,b", '{"a": "x", "b": [1]}\n', r"'b' in line 1 of .* text, got \[1\]"),
        ("p.jsonl", "a,b", '{"a": "\\u0000", "b": "x"}\n', "'a' in line 1 of .* has a NUL"),
        ("p.jsonl", "a,b", '{"a": "x", "b": "\\ud800"}\n', "'b' in line 1 .* half a character"),
        ("p.jsonl", "", "", "p.jsonl is empty"),
    ],
)
def test_what_is_no_pair_is_named_by_file_and_line(
    tmp_path: Path, name: str, fields: str, text: str, said: str
) -> None:
    chosen = [field for field in fields.split(",") if field]
    with pytest.raises(HeedfulError, match=said):
        list(read_pairs(write(tmp_path, name, text), chosen))


@pytest.mark.parametrize(("fields", "said"), [(["en"], "takes two"), (["0", "1"], "from 1")])
def test_fields_that_cannot_be_are_wrong_usage(
    tmp_path: Path, fields: list[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        list(read_pairs(write(tmp_path, "p.tsv", "a\tb\n"), fields))

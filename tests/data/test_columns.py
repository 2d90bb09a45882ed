"""Columns by number or by name, and what is said where they are not there."""

from pathlib import Path

import pytest

from heedful.data.columns import read_columns
from heedful.errors import HeedfulError, UsageError


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a.tsv"
    path.write_text('﻿id\ttext\tlabel\n1\tsays "so\tx\n\n2\tb\ty\tmore\n', encoding="utf-8")
    return path


def test_columns_by_name_skip_the_header(table: Path) -> None:
    found = list(read_columns(table, ("label", "text")))
    assert found == [(2, ("x", 'says "so')), (3, ("", "")), (4, ("y", "b"))]


def test_columns_by_number_read_every_line(table: Path) -> None:
    assert next(read_columns(table, ("2",))) == (1, ("text",))
    assert list(read_columns(table, ("2", "label")))[0] == (2, ('says "so', "x"))


def test_a_column_that_is_not_there_is_named(table: Path) -> None:
    with pytest.raises(HeedfulError, match=r"no column 'lable' in its first line. Close: label\."):
        list(read_columns(table, ("lable",)))
    with pytest.raises(HeedfulError, match=r"line 1 of .*a.tsv has 3 columns .* column 9 is asked"):
        list(read_columns(table, ("9",)))
    with pytest.raises(UsageError, match="counted from 1, got 0"):
        list(read_columns(table, ("0",)))


def test_a_name_of_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is JSON by its name"):
        list(read_columns(tmp_path / "a.jsonl.gz", ("1",)))

from pathlib import Path

import pytest

from heedful.data.files import content_hash, count_lines, read_lines, read_parallel
from heedful.errors import HeedfulError


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"\xef\xbb\xbfone\n\ntwo\n", ["one", "", "two"]),
        (b"\n", [""]),
        ("a\x0bb\x0cc\x85d\u2028e\rf\n".encode(), ["a\x0bb\x0cc\x85d\u2028e\rf"]),
    ],
)
def test_only_newlines_end_a_line(tmp_path: Path, data: bytes, lines: list[str]) -> None:
    path = write(tmp_path / "text", data)
    assert list(read_lines(path)) == lines
    assert count_lines(path) == len(lines)


def test_bytes_that_are_not_utf8_are_named_by_file_line_and_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "latin.fr", b"bien\nun \xe9t\xe9\n")
    with pytest.raises(HeedfulError, match=r"latin\.fr is not UTF-8.*line 2 .*0xe9 at its byte 4"):
        list(read_lines(path))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match=r"no file .*a\.en"):
        list(read_lines(tmp_path / "a.en"))


def test_a_folder_is_not_a_text_file(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match="is a folder"):
        list(read_lines(tmp_path))


def test_a_file_that_may_not_be_read_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(HeedfulError, match="cannot be read: Permission denied"):
        list(read_lines(tmp_path / "secret"))


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(HeedfulError, match="is empty: it must hold one text a line"):
        list(read_lines(write(tmp_path / "nothing", data)))


def test_lines_of_two_files_come_in_pairs(tmp_path: Path) -> None:
    source = write(tmp_path / "s", b"one\ntwo")
    target = write(tmp_path / "t", b"un\r\ndeux\r\n")
    assert list(read_parallel(source, target)) == [("one", "un"), ("two", "deux")]


@pytest.mark.parametrize("swapped", [False, True])
def test_files_of_different_length_are_an_error_before_the_first_pair(
    tmp_path: Path, swapped: bool
) -> None:
    longer = write(tmp_path / "longer", b"x\n" * 1000)
    shorter = write(tmp_path / "shorter", b"y\n" * 998)
    pair = (shorter, longer) if swapped else (longer, shorter)
    with pytest.raises(HeedfulError) as caught:
        next(read_parallel(*pair))
    said = str(caught.value)
    assert f"{longer} has 1,000" in said and f"{shorter} has 998" in said
    assert f"line 999 of {longer} has no partner in {shorter}" in said


def test_the_hash_is_of_the_content(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1", b"a\n"), write(tmp_path / "2", b"a\n")
    assert content_hash(one) == content_hash(two) != content_hash(write(tmp_path / "3", b"b\n"))

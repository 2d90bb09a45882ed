import gzip
import os
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


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"good\nb\0d\n", r"line 2 has a NUL byte at its byte 2\. Remove it with: tr -d"),
        ("e\n".encode("utf-16"), r"line 1 .*looks like UTF-16\. Convert it with: iconv -f utf-16"),
        (
            gzip.compress(b"text\n", mtime=0),
            "line 1 .*It looks like gzip: unpack it, or let its name say so",
        ),
        (b"PK\x03\x04\0\n", "It looks like a zip archive: unpack it"),
        (b"caf\xe9\n", "iconv -f latin1 -t utf-8"),
        (b"x" * (1 << 24) + b"y\n", "line 1 is longer than 16 MiB"),
    ],
)
def test_what_is_not_text_is_told_with_what_to_do(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(HeedfulError, match=rf"odd\.en is not .*{said}"):
        list(read_lines(write(tmp_path / "odd.en", data)))


def test_a_long_line_is_still_a_line(tmp_path: Path) -> None:
    longest = b"x" * ((1 << 24) - 1) + b"\n"
    assert [len(line) for line in read_lines(write(tmp_path / "a", longest))] == [(1 << 24) - 1]


def test_a_pipe_is_told_to_be_written_to_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HeedfulError, match="pipe is a pipe, which can be read only once"):
        count_lines(tmp_path / "pipe")


def test_lines_are_counted_once_as_long_as_the_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a", b"x\n" * 10)
    assert count_lines(path) == 10 and count_lines(path, most=3) == 3
    with monkeypatch.context() as patched:
        patched.setattr("heedful.data.files._open", None)
        assert count_lines(path) == 10
    write(path, b"x\n" * 11)
    assert count_lines(path) == 11


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    for read in (lambda path: list(read_lines(path)), count_lines):
        with pytest.raises(HeedfulError, match=r"no file .*a\.en"):
            read(tmp_path / "a.en")


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
    assert list(read_lines(tmp_path / "nothing", empty=True)) == []


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

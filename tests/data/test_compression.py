"""Compressed files: read like plain ones, and never taken for whole when they are not."""

import bz2
import gzip
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest

from heedful.data.compression import looks_like, plain_name
from heedful.data.files import content_hash, count_lines, read_lines, read_parallel
from heedful.errors import HeedfulError

TEXT = "".join(f"line {i} with an é\n" for i in range(20_000)).encode()


def zstd(data: bytes) -> bytes:
    """Packed by another program than the one that unpacks."""
    pytest.importorskip("zstandard")
    return bytes(pyarrow.compress(data, codec="zstd", asbytes=True))


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
every = pytest.mark.parametrize("ending", PACK)


@every
def test_lines_are_those_of_the_plain_file(tmp_path: Path, ending: str) -> None:
    plain, packed = tmp_path / "a.en", tmp_path / f"a.en{ending}"
    plain.write_bytes(TEXT)
    packed.write_bytes(PACK[ending](TEXT))
    assert list(read_lines(packed)) == list(read_lines(plain))
    assert count_lines(packed) == count_lines(plain) == 20_000
    assert sum(a == b for a, b in read_parallel(packed, plain)) == 20_000


@every
def test_parts_that_were_packed_one_by_one_are_read_as_one(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"parts{ending.upper()}"
    path.write_bytes(PACK[ending](b"\xef\xbb\xbfone\r\ntw") + PACK[ending](b"o\n"))
    assert list(read_lines(path)) == ["one", "two"]


@every
def test_a_file_cut_short_is_an_error_that_names_it(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"cut{ending}"
    path.write_bytes(PACK[ending](TEXT)[:-200])
    for read in (count_lines, lambda path: list(read_lines(path))):
        with pytest.raises(HeedfulError, match=rf"cut\{ending} ends in the middle of its"):
            read(path)


@every
def test_plain_text_under_a_packed_name_is_an_error(tmp_path: Path, ending: str) -> None:
    if ending == ".zst":
        pytest.importorskip("zstandard")
    (tmp_path / f"plain{ending}").write_bytes(TEXT)
    with pytest.raises(HeedfulError, match=rf"plain\{ending} is not .*, or is damaged .* name it"):
        list(read_lines(tmp_path / f"plain{ending}"))


@every
def test_a_damaged_file_is_an_error(tmp_path: Path, ending: str) -> None:
    data = bytearray(PACK[ending](TEXT))
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)
    (tmp_path / f"hurt{ending}").write_bytes(data)
    with pytest.raises(HeedfulError, match=rf"hurt\{ending}"):
        list(read_lines(tmp_path / f"hurt{ending}"))


@every
def test_bytes_that_are_not_text_are_named_by_their_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(PACK[ending](b"good\nb\xe9d\n"))
    with pytest.raises(HeedfulError, match=rf"a\{ending} is not UTF-8 text: line 2"):
        list(read_lines(path))


@every
def test_nothing_packed_is_an_empty_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(PACK[ending](b""))
    with pytest.raises(HeedfulError, match="is empty"):
        list(read_lines(path))
    assert list(read_lines(path, empty=True)) == [] and count_lines(path) == 0


@every
def test_memory_does_not_grow_with_what_is_in_a_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"large{ending}"
    path.write_bytes(PACK[ending]((b"x" * 9_999 + b"\n") * 4_000))  # 40 MB
    next(read_lines(path))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_lines(path)) == count_lines(path) == 4_000
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_without_its_package_zstd_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "a.en.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(HeedfulError, match=r"a\.en\.zst is .* zstd.*: pip install zstandard"):
        list(read_lines(tmp_path / "a.en.zst"))


def test_the_hash_is_of_the_file_as_it_lies_there(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"not gzip at all")
    (tmp_path / "a").write_bytes(b"not gzip at all")
    assert content_hash(tmp_path / "a.gz") == content_hash(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "plain"),
    [("x/a.tsv.gz", "a.tsv"), ("a.jsonl.XZ", "a.jsonl"), ("a.en", "a.en"), ("gz", "gz")],
)
def test_the_name_below_the_packing(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_a_packed_file_is_known_by_how_it_begins() -> None:
    kinds = {ending: looks_like(PACK[ending](TEXT)) for ending in (".gz", ".bz2", ".xz")}
    assert kinds == {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
    assert looks_like(b"text") is None

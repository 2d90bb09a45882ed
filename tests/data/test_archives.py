import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.data import archives
from heedful.data.archives import read_lines, segments
from heedful.errors import HeedfulError

TEXT = "one\r\nzwei Wörter\n\ntrois\x0bmots\u2028ici\nlast"
LINES = ["one", "zwei Wörter", "", "trois\x0bmots\u2028ici", "last"]
RAW = b"\xef\xbb\xbf" + TEXT.encode()

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}


def tar(members: dict[str, bytes | tarfile.TarInfo]) -> bytes:
    """A tar of files, or of other things described by a TarInfo."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.name = name
            info.size = len(data) if isinstance(data, bytes) else 0
            archive.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    return buffer.getvalue()


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("ending", PACKERS)
def test_a_file_is_read_line_by_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"text{ending}"
    path.write_bytes(PACKERS[ending](RAW))
    assert list(read_lines(path)) == LINES


@pytest.mark.parametrize("ending", [f".tar{e}" for e in PACKERS] + [".tgz", ".txz", ".tbz2"])
def test_a_member_of_a_tar_is_read_by_its_name(tmp_path: Path, ending: str) -> None:
    short = {".tgz": ".gz", ".txz": ".xz", ".tbz2": ".bz2"}
    pack = PACKERS[short.get(ending, ending.removeprefix(".tar"))]
    members = {"./a/other": b"no", "./a/train.en": RAW, "a/train.fr.gz": gzip.compress(b"oui\n")}
    path = tmp_path / f"all{ending}"
    path.write_bytes(pack(tar(members)))
    assert list(read_lines(path, "a/train.en")) == LINES
    assert list(read_lines(path, "*.fr.gz")) == ["oui"]
    with pytest.raises(HeedfulError, match=r"no file b in .*It holds: ./a/other, ./a/train.en, a/"):
        list(read_lines(path, "b"))


def test_a_member_of_a_zip_is_read_by_its_name(tmp_path: Path) -> None:
    path = packed(tmp_path / "all.zip", {"d/": b"", "_about.txt": b"no", "d/deu.txt": RAW})
    assert list(read_lines(path, "*deu.txt")) == LINES
    with pytest.raises(HeedfulError, match=r"no file d/ in .*It holds: _about.txt, d/deu.txt"):
        list(read_lines(path, "d/"))


def test_an_archive_with_many_files_names_a_few(tmp_path: Path) -> None:
    path = packed(tmp_path / "all.zip", {str(i): b"" for i in range(9)})
    with pytest.raises(HeedfulError, match=r"It holds: 0, 1, 2, 3, 4 and 4 more$"):
        list(read_lines(path, "x"))


def test_names_that_lead_out_of_the_folder_write_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    names = ["../out.txt", "/out.txt", "..\\out.txt"]
    packed(inside / "evil.zip", dict.fromkeys(names, b"x\n"))
    (inside / "evil.tar").write_bytes(tar(dict.fromkeys(names, b"x\n")))
    before = set(tmp_path.rglob("*"))
    for archive in ("evil.zip", "evil.tar"):
        assert list(read_lines(inside / archive, "../out.txt")) == ["x"]
    assert set(tmp_path.rglob("*")) == before and not Path("/out.txt").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_a_link_is_not_followed(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, "/etc/passwd"
    (tmp_path / "link.tar").write_bytes(tar({"train.en": info}))
    with pytest.raises(HeedfulError, match=r"train.en in .*link.tar is a link, a folder"):
        list(read_lines(tmp_path / "link.tar", "train.en"))


def test_a_file_with_holes_is_not_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo()
    info.type = tarfile.GNUTYPE_SPARSE
    (tmp_path / "holes.tar").write_bytes(tar({"train.en": info}))
    with pytest.raises(HeedfulError, match=r"a link, a folder or has holes"):
        list(read_lines(tmp_path / "holes.tar", "train.en"))


def test_a_line_without_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LONGEST", 10)
    (tmp_path / "a").write_bytes(b"short\n123456789\n1234567890\n")
    with pytest.raises(HeedfulError, match="a is not lines of text: line 3 is longer than 10"):
        list(read_lines(tmp_path / "a"))


def bombs(folder: Path) -> dict[str, str | None]:
    zeros = bytes(1 << 20)
    (folder / "b.gz").write_bytes(gzip.compress(zeros))
    (folder / "b.tar.xz").write_bytes(lzma.compress(tar({"a": zeros, "b": b"x"})))
    (folder / "nested.tar").write_bytes(tar({"b.gz": gzip.compress(zeros)}))
    packed(folder / "b.zip", {"b": zeros})
    return {"b.gz": None, "b.tar.xz": "b", "nested.tar": "b.gz", "b.zip": "b"}


@pytest.mark.parametrize("limits", [{"FREE": 1 << 16}, {"LIMIT": 1 << 16}], ids=str)
def test_a_bomb_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    every = bombs(tmp_path)
    for name, member in every.items():
        list(read_lines(tmp_path / name, member))  # within bounds, it is only a dull text
    for name, value in limits.items():
        monkeypatch.setattr(archives, name, value)
    for name, member in every.items():
        with pytest.raises(HeedfulError, match=r"expands from [\d,]+ to over [\d,]+ bytes, which"):
            list(read_lines(tmp_path / name, member))


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2", ".tar", ".tar.gz", ".zip"])
@pytest.mark.parametrize("harm", ["cut", "other"])
def test_a_damaged_file_is_an_error(tmp_path: Path, ending: str, harm: str) -> None:
    path = tmp_path / f"text{ending}"
    noise = bytes(i * i % 251 for i in range(50_000))
    if ending == ".zip":
        packed(path, {"a": noise})
    else:
        whole = tar({"a": noise}) if ".tar" in ending else noise
        path.write_bytes(PACKERS[ending.removeprefix(".tar")](whole))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if harm == "cut" else b"<html>Sorry</html>" * 100)
    with pytest.raises(HeedfulError, match=r"text\.\S+ (is damaged or cut short|cannot be read)"):
        list(read_lines(path, "a" if "." in ending[1:] or ending in (".tar", ".zip") else None))


def test_a_zip_that_was_changed_is_an_error(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"a": b"abc" * 1000})
    data = bytearray(path.read_bytes())
    data[40] ^= 255
    path.write_bytes(data)
    with pytest.raises(HeedfulError, match="a in .*a.zip is damaged or cut short"):
        list(read_lines(path, "a"))


def test_a_zip_with_a_password_is_an_error(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"a": b"abc"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(HeedfulError, match="a in .*a.zip is locked by a password"):
        list(read_lines(path, "a"))


def test_text_that_is_not_utf8_is_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress("gut\nfür\n".encode("latin-1")))
    with pytest.raises(HeedfulError, match=r"a.gz is not UTF-8 text: line 2 has the byte 0xfc at"):
        list(read_lines(tmp_path / "a.gz"))


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match=r"none.gz cannot be read: No such file"):
        list(read_lines(tmp_path / "none.gz"))


def test_a_reader_that_stops_early_closes_what_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(gzip.compress(tar({"a": b"1\n2\n3\n"})))
    lines = read_lines(path, "a")
    assert next(lines) == "1"
    lines.close()  # type: ignore[attr-defined]


def test_zstandard_is_read_if_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    try:
        import zstandard
    except ImportError:
        path.write_bytes(b"\x28\xb5\x2f\xfd")
        with pytest.raises(HeedfulError, match="pip install zstandard"):
            list(read_lines(path))
    else:
        path.write_bytes(zstandard.compress(RAW))
        assert list(read_lines(path)) == LINES


def test_the_sentences_of_a_test_set_are_found() -> None:
    text = """<?xml version="1.0"?><!DOCTYPE mteval [<!ENTITY lol "lol">]>
<refset setid="newstest" srclang="any"><doc docid="1">
<p>
<seg id="1">R&amp;D  costs &lol; 5 < 6.</seg>
<SEG id="2"> Two </SEG> <seg id="3"></seg>
</p><hl><seg>Three</seg></hl></doc></refset>"""
    found = list(segments(text.splitlines()))
    assert found == ["R&amp;D costs &lol; 5 < 6.", "Two", "", "Three"]

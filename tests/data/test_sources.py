"""Downloads from a local server that can be told to misbehave."""

import errno
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from heedful.data import sources
from heedful.data.sources import Download, fetch
from heedful.errors import HeedfulError, UsageError

DATA = b"\x1f\x8b" + os.urandom(8) + bytes(range(256)) * 4000  # about a megabyte, no page
NAME = "corpus/train.en.gz"


class Server(ThreadingHTTPServer):
    """Serves `files` by path; what was asked for is noted."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {f"/{NAME}": DATA}
        self.asked: list[tuple[str, str | None]] = []  # path, Range
        self.faults: list[Any] = []  # one a request, until there are no more
        self.kind = "application/octet-stream"
        self.tag: str | None = '"one"'
        self.ranges = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    """A fault is a status, "empty", "late", "unmeasured", or one of "cut", "shift" and "stall" with
    a number of bytes."""

    server: Server

    def do_GET(self) -> None:
        server, asked = self.server, self.headers.get("Range")
        server.asked.append((self.path, asked))
        fault = server.faults.pop(0) if server.faults else None
        data = server.files.get(self.path)
        if isinstance(fault, int) or data is None:
            self.send_error(fault if isinstance(fault, int) else 404)
            return
        kind, count = fault if isinstance(fault, tuple) else (fault, 0)
        data = b"" if kind == "empty" else data
        if kind == "late":
            time.sleep(1.0)
            return
        start = 0
        if asked and server.ranges and self.headers.get("If-Range") in (None, server.tag):
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                self.send_error(416)
                return
            self.send_response(206)
            first = start + (count if kind == "shift" else 0)
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        if kind != "unmeasured":
            self.send_header("Content-Length", str(len(data) - start))
        self.send_header("Content-Type", server.kind)
        if server.tag:
            self.send_header("ETag", server.tag)
        self.end_headers()
        sent = data[start : start + count] if kind in ("cut", "stall") else data[start:]
        self.wfile.write(sent)
        if kind == "stall":
            self.wfile.flush()
            time.sleep(1.0)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class Place(NamedTuple):
    """A server, a file on it, and the folder it is to go to."""

    server: Server
    download: Download
    folder: Path

    def get(self, **changes: Any) -> Path:
        return fetch(replace(self.download, **changes), self.folder, self.progress)

    def progress(self, done: int, note: str) -> None:
        NOTES.append((done, note))

    @property
    def part(self) -> Path:
        return self.folder / (NAME + ".part")

    def only_lock(self) -> bool:
        """Whether nothing that could be taken for the file is left."""
        return {path.name for path in self.folder.rglob("*") if path.is_file()} <= {
            "train.en.gz.lock"
        }


NOTES: list[tuple[int, str]] = []


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def place(running: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    fresh = {"files": {f"/{NAME}": DATA}, "asked": [], "faults": [], "tag": '"one"', "ranges": True}
    for name, value in {**fresh, "kind": "application/octet-stream"}.items():
        setattr(running, name, value)
    NOTES.clear()
    monkeypatch.delenv("HEEDFUL_MIRROR", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(sources, "PAUSE", 0.001)
    digest = hashlib.sha256(DATA).hexdigest()
    download = Download(NAME, (f"{running.url}/{NAME}",), digest, len(DATA))
    return Place(running, download, tmp_path / "downloads")


def test_a_file_is_fetched_once(place: Place) -> None:
    path = place.get()
    assert path == place.folder / NAME and path.read_bytes() == DATA
    assert place.get() == path and len(place.server.asked) == 1
    assert any(note == "downloading corpus/train.en.gz (MB of 1.0)" for _, note in NOTES)
    assert NOTES[-1][0] == 1
    assert {p.name for p in path.parent.iterdir()} == {"train.en.gz", "train.en.gz.lock"}


def test_what_broke_off_is_continued(place: Place) -> None:
    place.server.faults = [("cut", 1000), ("cut", 5000)]
    assert place.get().read_bytes() == DATA
    assert [asked for _, asked in place.server.asked] == [None, "bytes=1000-", "bytes=6000-"]
    assert any("broke off after 1,000 of 1,024,010 bytes" in note for _, note in NOTES)


def test_as_long_as_it_gets_further_it_goes_on(place: Place) -> None:
    place.server.faults = [("cut", 1000)] * 9 + [503, 503]
    assert place.get().read_bytes() == DATA and len(place.server.asked) == 12


def test_a_part_of_an_earlier_attempt_is_continued(place: Place) -> None:
    place.part.parent.mkdir(parents=True)
    place.part.write_bytes(DATA[:70_000])
    assert place.get().read_bytes() == DATA
    assert place.server.asked == [(f"/{NAME}", "bytes=70000-")]


def test_a_whole_part_needs_only_its_name(place: Place) -> None:
    place.part.parent.mkdir(parents=True)
    place.part.write_bytes(DATA)
    assert place.get().read_bytes() == DATA and place.server.asked == []


@pytest.mark.parametrize(
    ("start", "size", "ranges"),
    [
        (b"something else", len(DATA), ["bytes=14-", None]),
        (DATA + b"more", len(DATA), [None]),
        (DATA + b"more", None, ["bytes=1024014-", None]),
    ],
    ids=["other", "longer", "longer than the server's"],
)
def test_a_part_that_does_not_fit_is_thrown_away(
    place: Place, start: bytes, size: int | None, ranges: list[str | None]
) -> None:
    place.part.parent.mkdir(parents=True)
    place.part.write_bytes(start)
    assert place.get(size=size).read_bytes() == DATA
    assert [asked for _, asked in place.server.asked] == ranges


def test_a_server_without_ranges_begins_anew(place: Place) -> None:
    place.server.ranges = False
    place.server.faults = [("cut", 1000)]
    assert place.get().read_bytes() == DATA


def test_an_answer_with_another_part_is_not_taken(place: Place) -> None:
    place.server.faults = [("cut", 1000), ("shift", 7)]
    assert place.get().read_bytes() == DATA
    assert any("another part than was asked for" in note for _, note in NOTES)


def test_parts_of_two_versions_are_not_joined(place: Place) -> None:
    def change(done: int, note: str) -> None:
        if note.startswith("trying"):
            place.server.tag, place.server.files[f"/{NAME}"] = '"two"', b"new " + DATA

    place.server.faults = [("cut", 1000)]
    unknown = replace(place.download, sha256=None, size=None)
    assert fetch(unknown, place.folder, change).read_bytes() == b"new " + DATA


def test_without_checksum_or_version_nothing_is_continued(place: Place) -> None:
    place.server.tag = None
    place.server.faults = [("cut", 1000)]
    assert place.get(sha256=None).read_bytes() == DATA
    assert [asked for _, asked in place.server.asked] == [None, None]


def test_a_download_that_stays_cut_short_is_an_error(place: Place) -> None:
    place.server.faults = [("cut", 1000)] + [("cut", 0)] * 9
    with pytest.raises(HeedfulError, match=r"broke off after 1,000 of .*What has come is kept"):
        place.get()
    assert len(place.server.asked) == 1 + sources.ATTEMPTS - 1
    assert not (place.folder / NAME).exists() and place.part.read_bytes() == DATA[:1000]


def test_a_server_that_is_busy_is_asked_again(place: Place) -> None:
    place.server.faults = [503, 429, "empty"]
    assert place.get().read_bytes() == DATA and len(place.server.asked) == 4


def test_a_server_that_stays_busy_is_an_error(place: Place) -> None:
    place.server.faults = [503] * 9
    with pytest.raises(HeedfulError, match=r"cannot get .*tried 4 times: .* answers 503"):
        place.get()
    assert place.only_lock()


def test_a_server_that_is_not_there_is_an_error(place: Place) -> None:
    with pytest.raises(HeedfulError, match=r"127.0.0.1:9/x cannot be reached"):
        place.get(urls=("http://127.0.0.1:9/x",))


def test_a_file_that_was_tampered_with_is_an_error(place: Place) -> None:
    place.server.files[f"/{NAME}"] = DATA[:-1] + b"!"
    with pytest.raises(HeedfulError, match=r"is not the file .* its SHA-256 is .*, not .*kept"):
        place.get()
    assert place.only_lock()


def test_a_file_of_another_size_is_an_error(place: Place) -> None:
    place.server.files[f"/{NAME}"] = DATA[:-1]
    with pytest.raises(HeedfulError, match=r"it has 1,024,009 bytes, not 1,024,010"):
        place.get()
    assert place.only_lock()


@pytest.mark.parametrize(
    ("kind", "page"),
    [("text/html; charset=utf-8", b"\n<p>Sorry</p>"), ("text/plain", b"<!DOCTYPE HTML><p>Sorry")],
)
@pytest.mark.parametrize("fault", [None, "unmeasured"])
def test_a_page_instead_of_the_file_is_an_error(
    place: Place, kind: str, page: bytes, fault: str | None
) -> None:
    place.server.kind, place.server.files[f"/{NAME}"] = kind, page
    place.server.faults = [fault]
    with pytest.raises(HeedfulError, match="answers with a web page, not with corpus/train.en.gz"):
        place.get(sha256=None, size=None)
    assert place.only_lock() and len(place.server.asked) == 1


def test_a_file_that_is_said_to_be_a_page_is_taken(place: Place) -> None:
    place.server.kind = "text/html"
    assert place.get().read_bytes() == DATA


def test_a_file_that_is_not_there_is_an_error_at_once(place: Place) -> None:
    with pytest.raises(HeedfulError, match=r"/nowhere answers 404 .*is not there, or no longer"):
        place.get(urls=(f"{place.server.url}/nowhere",))
    assert len(place.server.asked) == 1


def test_the_next_url_is_tried(place: Place) -> None:
    place.server.faults = [403]
    url = place.download.urls[0]
    assert place.get(urls=(url, url)).read_bytes() == DATA


def test_all_urls_that_failed_are_named(place: Place) -> None:
    urls = (f"{place.server.url}/a", f"{place.server.url}/b", "ftp://example.org/c")
    with pytest.raises(HeedfulError, match=r"/a answers 404.*/b answers 404.*only http and https"):
        place.get(urls=urls)


def test_a_copy_that_was_damaged_is_fetched_again(place: Place) -> None:
    path = place.get()
    path.write_bytes(DATA[:-5] + b"12345")
    assert place.get().read_bytes() == DATA
    assert any("fetching corpus/train.en.gz again: its SHA-256" in note for _, note in NOTES)


def test_an_unknown_checksum_is_recorded_and_held_to(place: Place) -> None:
    path = place.get(sha256=None)
    record = path.with_name("train.en.gz.sha256")
    assert record.read_text() == f"{hashlib.sha256(DATA).hexdigest()}  train.en.gz\n"
    assert any("no SHA-256 of corpus/train.en.gz is known; that of" in note for _, note in NOTES)
    assert place.get(sha256=None) == path and len(place.server.asked) == 1
    path.unlink()
    place.server.files[f"/{NAME}"] = DATA[::-1]
    with pytest.raises(HeedfulError, match=r"not that of the first copy \(delete .*\.sha256 to"):
        place.get(sha256=None)
    record.unlink()
    assert place.get(sha256=None).read_bytes() == DATA[::-1]


def test_two_at_once_fetch_once(place: Place) -> None:
    threads = [threading.Thread(target=place.get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(place.server.asked) == 1 and (place.folder / NAME).read_bytes() == DATA


def test_no_room_is_said_beforehand(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.shutil, "disk_usage", lambda folder: SimpleNamespace(free=10))
    with pytest.raises(HeedfulError, match=r"no room for corpus/.*1,024,010 bytes more and 10 are"):
        place.get()


def test_a_disk_that_is_full_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sources.os, "fsync", full)
    with pytest.raises(HeedfulError, match=r"cannot keep corpus/.*: the disk is full. Make room"):
        place.get()
    assert not (place.folder / NAME).exists()


def test_a_folder_that_cannot_be_written_is_an_error(place: Place) -> None:
    place.folder.write_text("a file")
    with pytest.raises(HeedfulError, match=r"cannot keep corpus/.* in .*downloads: "):
        place.get()


@pytest.mark.parametrize("name", ["../up.gz", "/etc/passwd", "a/../../b", ""])
def test_a_name_stays_within_the_folder(place: Place, name: str) -> None:
    with pytest.raises(UsageError, match="must be a path within a folder"):
        place.get(name=name)


@pytest.mark.parametrize("form", ["{}", "file://{}"])
@pytest.mark.parametrize("name", [NAME, "train.en.gz"])
def test_a_mirror_folder_is_used_where_it_lies(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, name: str
) -> None:
    lies = tmp_path / "mirror" / name
    lies.parent.mkdir(parents=True)
    lies.write_bytes(DATA)
    monkeypatch.setenv("HEEDFUL_MIRROR", form.format(tmp_path / "mirror"))
    assert place.get() == lies
    assert place.server.asked == [] and not place.folder.exists()
    assert place.get(sha256=None) == lies and (place.folder / f"{NAME}.sha256").exists()
    lies.write_bytes(DATA[::-1])
    for changes in ({}, {"sha256": None}):
        with pytest.raises(HeedfulError, match=r"mirror/.* is not corpus/.*SHA-256.*Replace it"):
            place.get(**changes)


@pytest.mark.parametrize("name", [NAME, "train.en.gz"])
def test_a_mirror_url_is_asked_instead(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place.server.files = {f"/m/{name}": DATA}
    monkeypatch.setenv("HEEDFUL_MIRROR", place.server.url + "/m/")
    assert place.get(urls=("http://127.0.0.1:9/x",)).read_bytes() == DATA
    assert place.server.asked[0] == (f"/m/{NAME}", None)


def test_a_mirror_without_the_file_is_an_error(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mirror in (str(tmp_path), place.server.url + "/empty"):
        monkeypatch.setenv("HEEDFUL_MIRROR", mirror)
        words = rf"mirror {mirror} has no corpus/train.en.gz: put it there, or unset HEEDFUL_MIRROR"
        with pytest.raises(HeedfulError, match=f"{words} to get it from {place.download.urls[0]}"):
            place.get()
    assert all(path.startswith("/empty/") for path, _ in place.server.asked)


def test_a_mirror_that_is_no_folder_is_an_error(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", "no/such/folder")
    with pytest.raises(UsageError, match="HEEDFUL_MIRROR is 'no/such/folder', which is no folder"):
        place.get()


def test_another_form_of_the_file_will_do(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repacked = replace(place.download, name="corpus/small.xz", urls=(), instead=place.download)
    path = fetch(repacked, place.folder)
    assert path == place.folder / NAME
    assert fetch(repacked, place.folder) == path and len(place.server.asked) == 1
    path.unlink()
    (tmp_path / "small.xz").write_bytes(DATA)
    monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
    assert fetch(repacked, place.folder) == tmp_path / "small.xz"


def test_what_is_published_nowhere_asks_for_a_mirror(place: Place) -> None:
    with pytest.raises(HeedfulError, match="published nowhere: set HEEDFUL_MIRROR"):
        place.get(urls=())


def test_a_connection_that_fails_is_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "TIMEOUT", 0.4)
    place.server.faults = ["late", ("stall", 5000)]
    assert place.get().read_bytes() == DATA
    assert [asked for _, asked in place.server.asked] == [None, None, "bytes=5000-"]
    assert sum("timed out" in note for _, note in NOTES) == 2

"""Files that others publish: fetched once, resumed where they broke off, checked before they count.

A download is written beside (`NAME.part`) and gets its name only when it is whole and its SHA-256
is right. `HEEDFUL_MIRROR`, a folder or a URL, is asked instead of the internet: a file lies there
under its relative name (`multi30k/train.en.gz`) or its bare one (`train.en.gz`).
"""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from itertools import chain
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any, Protocol, runtime_checkable
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, url2pathname, urlopen

from filelock import FileLock

from heedful.data.progress import Progress, silent
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import Example

MIRROR = "HEEDFUL_MIRROR"
FOLDER = "downloads"  # within the folder of prepared data
ATTEMPTS = 4  # at one place, of which each may get further
PAUSE = 1.0  # seconds before the second attempt, doubled before each further one
TIMEOUT = 30.0  # seconds without a byte
_BLOCK = 1 << 18
_PASSING = (408, 425, 429, 500, 502, 503, 504)  # answers that may be others in a while
_HTML = (b"<!doctype html", b"<html")


Examples = Callable[[str, Random], Iterator[Example]]


@dataclass(frozen=True)
class Download:
    """One published file, and what it is known by."""

    name: str  # a relative path, under a mirror and under the downloads
    urls: tuple[str, ...]  # where it is published; one after the other is tried
    sha256: str | None = None  # None: not known; that of the first copy is kept beside it
    size: int | None = None  # bytes
    instead: "Download | None" = None  # the same content in another file, if this cannot be had


@runtime_checkable
class Fetches(Protocol):
    """A problem whose examples are in downloads."""

    def fetch(self, folder: Path, progress: Progress) -> Examples:
        """Have all files under `folder`, and give what is then called like `Problem.examples`."""
        ...


def fetch(download: Download, folder: Path, progress: Progress = silent) -> Path:
    """A checked copy of a file: one that is there, the mirror's, or a fresh one in `folder`."""
    mirror = os.environ.get(MIRROR, "").strip()
    kinds = [download] + ([download.instead] if download.instead else [])
    try:
        for one in kinds:
            path = folder / _relative(one.name)
            if path.is_file():
                wrong = _wrong(one, path, path, progress)
                if not wrong:
                    return path
                progress(0, f"fetching {one.name} again: {wrong}")
        if mirror:
            return _from_mirror(kinds, mirror, folder, progress)
        for one in kinds:
            if one.urls:
                return _from_urls(one, one.urls, folder, progress)
    except OSError as error:
        raise _disk(error, download, folder) from error
    raise HeedfulError(
        f"{download.name} is published nowhere: set {MIRROR} to a folder that has it"
    )


def _from_mirror(kinds: list[Download], mirror: str, folder: Path, progress: Progress) -> Path:
    local = _local(mirror)
    for one in kinds:
        for name in dict.fromkeys((one.name, PurePosixPath(one.name).name)):
            if local is not None:
                path = local / name
                if path.is_file():
                    if wrong := _wrong(one, path, folder / one.name, progress):
                        raise HeedfulError(f"{path} is not {one.name}: {wrong}. Replace it")
                    return path
            else:
                try:
                    url = f"{mirror.rstrip('/')}/{quote(name)}"
                    return _from_urls(one, (url,), folder, progress)
                except _Absent:
                    continue
    names = " or ".join(one.name for one in kinds)
    urls = [url for one in kinds for url in one.urls]
    remedy = f", or unset {MIRROR} to get it from {urls[0]}" if urls else ""
    raise HeedfulError(f"the mirror {mirror} has no {names}: put it there{remedy}")


def _local(mirror: str) -> Path | None:
    """The folder that a mirror is, or None for one on the network."""
    parts = urlsplit(mirror)
    if parts.scheme in ("http", "https"):
        return None
    path = Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(mirror)
    if not path.is_dir():
        raise UsageError(
            f"{MIRROR} is '{mirror}', which is no folder here: give a folder or an http(s) URL"
        )
    return path


def _from_urls(one: Download, urls: tuple[str, ...], folder: Path, progress: Progress) -> Path:
    """Download a file under its lock: another process may be at it, and then it is there."""
    path = folder / _relative(one.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock")):
        if path.is_file() and not _wrong(one, path, path, progress):
            return path
        failures: list[HeedfulError] = []
        for url in urls:
            try:
                return _download(one, url, path, progress)
            except HeedfulError as error:
                failures.append(error)
        if len(failures) == 1:
            raise failures[0]
        raise HeedfulError(f"cannot get {one.name}: " + "; ".join(map(str, failures)))


def _download(one: Download, url: str, path: Path, progress: Progress) -> Path:
    part = path.with_name(path.name + ".part")
    failures = 0  # since it last got further
    while True:
        before = _size(part)
        failure = _attempt(one, url, path, part, progress)
        if not failure:
            return path
        failures = 1 if _size(part) > before else failures + 1
        if failures >= ATTEMPTS:
            break
        progress(0, f"trying {one.name} again: {failure}")
        time.sleep(PAUSE * 2 ** (failures - 1))
    remedy = (
        "What has come is kept: ask again, and it goes on from there"
        if _size(part)
        else f"Ask again later, or set {MIRROR} to a folder that has it"
    )
    raise HeedfulError(f"cannot get {one.name}, tried {ATTEMPTS} times: {failure}. {remedy}")


def _attempt(one: Download, url: str, path: Path, part: Path, progress: Progress) -> str:
    """Try to get a file; "" if it is there, else what went wrong and may go better next time."""
    try:
        resumed = _continue(one, url, part, progress)
    except _Broken as error:
        return str(error)
    except HTTPError as error:
        error.close()
        failure = f"{url} answers {error.code} ({error.reason})"
        if error.code == 416:  # nothing is left to get: what we have is not of this file
            _discard(part)
        elif error.code in (404, 410):
            raise _Absent(f"{failure}: {one.name} is not there, or no longer") from None
        elif error.code not in _PASSING:
            raise HeedfulError(f"{failure}. Get it by hand, and use {MIRROR}") from None
        return failure
    wrong = _wrong(one, part, path, progress)
    if not wrong:
        os.replace(part, path)
        _discard(part)
        return ""
    _discard(part)
    if resumed:
        return f"the parts do not fit together ({wrong})"
    raise HeedfulError(
        f"{url} is not the file that {one.name} should be: {wrong}. It was changed, or damaged on "
        "the way; nothing of it is kept"
    )


def _continue(one: Download, url: str, part: Path, progress: Progress) -> bool:
    """Get what is missing of a partial file; whether it was continued, not begun."""
    start = _size(part)
    if one.size is not None and start > one.size:
        start = 0
    tag = _tag(part)
    version = tag.read_text(encoding="utf-8") if tag.exists() else ""
    headers = {"User-Agent": "heedful", "Accept-Encoding": "identity"}
    if start and (one.sha256 or version):
        if start == one.size:
            return True  # whole, if its checksum is right
        headers["Range"] = f"bytes={start}-"
        if version:
            headers["If-Range"] = version
    with _ask(Request(url, headers=headers)) as answer:
        about: HTTPMessage = answer.headers
        resumed = answer.status == 206 and _begins(about) == start
        if answer.status == 206 and not resumed:
            _discard(part)
            raise _Broken(f"{url} answers with another part than was asked for")
        if not resumed:
            start = 0
        total = about.get("Content-Length")
        end = start + int(total) if total and total.isdigit() else one.size
        _room(one, part.parent, (end or 0) - start)
        blocks = _blocks(answer, url)
        first = next(blocks, b"")
        if not resumed:
            _must_be_file(one, url, about, first)
        tag.write_text(about.get("ETag") or about.get("Last-Modified") or "", encoding="utf-8")
        done = start
        note = f"downloading {one.name}" + (f" (MB of {end / 1e6:,.1f})" if end else " (MB)")
        with part.open("ab" if resumed else "wb") as file:
            for block in chain([first], blocks):
                file.write(block)
                done += len(block)
                progress(done // 1_000_000, note)
            file.flush()
            os.fsync(file.fileno())
    if end is not None and done < end:
        raise _Broken(f"{url} broke off after {done:,} of {end:,} bytes")
    return resumed


class _Broken(HeedfulError):
    """It may go better the next time."""


class _Absent(HeedfulError):
    """The file is not at this place."""


def _ask(request: Request) -> Any:
    if urlsplit(request.full_url).scheme not in ("http", "https"):
        raise UsageError(f"cannot download from {request.full_url}: only http and https are known")
    try:
        return urlopen(request, timeout=TIMEOUT)
    except HTTPError:
        raise
    except (OSError, HTTPException) as error:  # URLError among them
        reason = getattr(error, "reason", None) or error
        raise _Broken(f"{request.full_url} cannot be reached ({reason})") from error


def _blocks(answer: Any, url: str) -> Iterator[bytes]:
    while True:
        try:
            block = answer.read1(_BLOCK)
        except (OSError, HTTPException) as error:
            raise _Broken(f"{url} broke off ({error})") from error
        if not block:
            return
        yield block


def _begins(about: HTTPMessage) -> int:
    """Where the part that came begins, by `Content-Range: bytes 100-199/200`."""
    first = about.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdigit() else -1


def _must_be_file(one: Download, url: str, about: HTTPMessage, first: bytes) -> None:
    """Raise if what came is a page that says sorry, or nothing."""
    if not first:
        raise _Broken(f"{url} answers with nothing")
    start = first.lstrip()[:20].lower()
    page = start.startswith(b"<") and about.get_content_type() == "text/html"
    if page or start.startswith(_HTML):
        raise HeedfulError(
            f"{url} answers with a web page, not with {one.name}: it moved, or wants a log-in. Get "
            f"it by hand, and use {MIRROR}"
        )


def _wrong(one: Download, path: Path, home: Path, progress: Progress) -> str:
    """What is wrong with a file, in words; "" if nothing.

    A SHA-256 that is not known is that of the first copy: it is kept beside the file's `home`, in
    the form that `sha256sum -c` reads.
    """
    size = path.stat().st_size
    if one.size is not None and size != one.size:
        return f"it has {size:,} bytes, not {one.size:,}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    found = digest.hexdigest()
    if one.sha256 is not None:
        return "" if found == one.sha256 else f"its SHA-256 is {found}, not {one.sha256}"
    record = home.with_name(home.name + ".sha256")
    if not record.exists():
        progress(0, f"no SHA-256 of {one.name} is known; that of this copy is kept in {record}")
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(f"{found}  {home.name}\n", encoding="utf-8")
    elif found not in record.read_text(encoding="utf-8"):
        return f"its SHA-256 is {found}, not that of the first copy (delete {record} to accept it)"
    return ""


def _tag(part: Path) -> Path:
    """Where the version that a part is of is kept, as the server calls it."""
    return part.with_name(part.name + ".tag")


def _discard(part: Path) -> None:
    for path in (part, _tag(part)):
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _relative(name: str) -> Path:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or not parts.name:
        raise UsageError(f"'{name}' cannot name a download: it must be a path within a folder")
    return Path(*parts.parts)


def _room(one: Download, folder: Path, wanted: int) -> None:
    free = shutil.disk_usage(folder).free
    if wanted > free:
        raise HeedfulError(
            f"no room for {one.name} in {folder}: it takes {wanted:,} bytes more and {free:,} are "
            "free. Make room, or name another folder with --data"
        )


def _disk(error: OSError, download: Download, folder: Path) -> HeedfulError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    what = "the disk is full" if full else (error.strerror or str(error))
    return HeedfulError(
        f"cannot keep {download.name} in {folder}: {what}. Make room, or name another folder with "
        "--data"
    )

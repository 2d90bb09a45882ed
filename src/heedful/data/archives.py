"""Compressed files and archives, read line by line where they lie: nothing is ever unpacked.

A member of a .tar or .zip is asked for by name and streamed. As no name from an archive becomes a
path, none can lead out of a folder. What a file expands to is counted as it is read, and stops at
`LIMIT` bytes, or at `RATIO` times the file (text shrinks to a fifth, a bomb to a thousandth).
"""

import bz2
import fnmatch
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from heedful.data import compression
from heedful.errors import HeedfulError

LIMIT = 128 << 30  # bytes that one file may expand to
RATIO = 200  # and how many times its own size, once it is past the first FREE bytes
FREE = 64 << 20
LONGEST = 1 << 24  # bytes of a line

_BOM = b"\xef\xbb\xbf"
_TAR = re.compile(r"\.(tar(\.\w+)?|tgz|tbz2|txz)$")
_DAMAGES = (  # what readers raise when a file is not what its name says
    EOFError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,  # of a compression in a .zip that is not known
)
_OPENERS: dict[str, Callable[[Any], Any]] = {
    "gz": lambda raw: gzip.GzipFile(fileobj=raw),
    "xz": lzma.LZMAFile,
    "bz2": bz2.BZ2File,
    "zst": lambda raw: compression.unpacked(raw, raw.name),
}
_OPENERS |= {"tgz": _OPENERS["gz"], "txz": _OPENERS["xz"], "tbz2": _OPENERS["bz2"]}
_SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg>", re.IGNORECASE)


def read_lines(path: Path, member: str | None = None) -> Iterator[str]:
    """The lines of a UTF-8 text: a file, packed or not, or the member of this name in an archive.

    A name may be a shell pattern (`*/train.de`); the first member that matches is read. Only a
    newline ends a line, with a carriage return before it or not, and a byte order mark is skipped.
    """
    name = f"{member} in {path}" if member else str(path)
    with _opened(path, member, name) as stream:
        for number, line in enumerate(_whole(stream, name), start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
            try:
                yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                raise HeedfulError(
                    f"{name} is not UTF-8 text: line {number:,} has the byte "
                    f"0x{error.object[error.start]:02x} at its byte {error.start + 1:,}"
                ) from None


def segments(lines: Iterable[str]) -> Iterator[str]:
    """The sentences of an .sgm or .xml test set: what stands in `<seg>`, spaces made single.

    Not a parser: it reads lines, follows nothing, and leaves entities as they are written, as
    sacreBLEU does; so references are its references.
    """
    for line in lines:
        for found in _SEGMENT.finditer(line):
            yield " ".join(found[1].split())


@contextmanager
def _opened(path: Path, member: str | None, name: str) -> Iterator[IO[bytes]]:
    """A file or member as bytes; every layer is closed at the end."""
    with ExitStack() as stack:
        try:
            size = path.stat().st_size
            if path.suffix == ".zip":
                stream = _in_zip(stack, path, member, name)
            else:
                raw = stack.enter_context(path.open("rb"))
                stream = _unpacked(stack, raw, path.name, size, name)
                if _TAR.search(path.name):
                    stream = _in_tar(stack, stream, path, member, name)
        except _DAMAGES as error:
            raise _damaged(name, error) from error
        except OSError as error:
            raise HeedfulError(f"{path} cannot be read: {error.strerror or error}") from error
        yield stream


def _whole(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Every line of a stream, or an error if it ends before it should."""
    number = 0
    try:
        while line := stream.readline(LONGEST):
            number += 1
            if len(line) == LONGEST and not line.endswith(b"\n"):
                raise HeedfulError(
                    f"{name} is not lines of text: line {number:,} is longer than {LONGEST:,} bytes"
                )
            yield line
    except _DAMAGES as error:
        raise _damaged(name, error) from error
    except OSError as error:
        raise HeedfulError(f"{name} cannot be read: {error.strerror or error}") from error


def _unpacked(stack: ExitStack, raw: IO[bytes], packed: str, size: int, name: str) -> IO[bytes]:
    """A stream without its compression, by the end of its name; it may not grow beyond bounds."""
    ending = packed.rpartition(".")[2].lower()
    if ending not in _OPENERS:
        return raw
    opened = _OPENERS[ending](raw)
    stack.callback(opened.close)
    return io.BufferedReader(_Bounded(opened, size, name), 1 << 17)


def _in_tar(
    stack: ExitStack, stream: IO[bytes], path: Path, member: str | None, name: str
) -> IO[bytes]:
    """A member of a tar, found by reading on to it; one that is packed itself is unpacked too."""
    archive = stack.enter_context(tarfile.TarFile.open(fileobj=stream, mode="r|"))
    seen = []
    for info in archive:
        if _is(info.name, member):
            plain = info.isreg() and not info.issparse()  # holes cost nothing and expand to much
            found = archive.extractfile(info) if plain else None
            if found is None:
                raise HeedfulError(
                    f"{info.name} in {path} is a link, a folder or has holes, and no plain file: "
                    "the archive is not what it should be"
                )
            return _unpacked(stack, found, info.name, info.size, name)
        seen.append(info.name)
    raise _no_member(path, member, seen)


def _in_zip(stack: ExitStack, path: Path, member: str | None, name: str) -> IO[bytes]:
    archive = stack.enter_context(zipfile.ZipFile(path))
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    for info in archive.infolist():
        if not info.is_dir() and _is(info.filename, member):
            if info.flag_bits & 1:
                raise HeedfulError(f"{name} is locked by a password: unlock it, or use another")
            opened = stack.enter_context(archive.open(info))
            bounded = _Bounded(opened, info.compress_size, name)
            return io.BufferedReader(bounded, 1 << 17)
    raise _no_member(path, member, names)


def _is(name: str, wanted: str | None) -> bool:
    return wanted is not None and fnmatch.fnmatchcase(name.removeprefix("./"), wanted)


def _no_member(path: Path, member: str | None, names: list[str]) -> HeedfulError:
    few = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
    return HeedfulError(f"no file {member} in {path}. It holds: {few or 'nothing'}")


class _Bounded(io.RawIOBase):
    """What a packed file expands to, as long as that is not absurdly much."""

    def __init__(self, stream: IO[bytes], size: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._most = min(LIMIT, max(FREE, size * RATIO))
        self._size, self._read = size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._read += len(data)
        if self._read > self._most:
            raise HeedfulError(
                f"{self._name} expands from {self._size:,} to over {self._most:,} bytes, which no "
                "text does: it is damaged or made to fill the disk. Get it again from elsewhere"
            )
        buffer[: len(data)] = data
        return len(data)


def _damaged(name: str, error: Exception) -> HeedfulError:
    return HeedfulError(f"{name} is damaged or cut short ({error}): delete it and get it again")

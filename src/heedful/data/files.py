"""Text files, read line by line, with errors that name the file and the line.

Only a newline ends a line (with a carriage return before it or not); other characters that some
programs break lines at are part of the text. A byte order mark is skipped. A file whose name ends
in .gz, .bz2, .xz or .zst is unpacked as it is read.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from heedful.data.compression import looks_like, unpacked
from heedful.errors import HeedfulError

LONGEST = 1 << 24  # bytes in a line: what has more is hardly lines of text
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLOCK = 1 << 20


@runtime_checkable
class ReadsFiles(Protocol):
    """A problem made from files: what they hold is part of what the problem is."""

    def files(self) -> tuple[Path, ...]:
        """Every file that examples come from."""
        ...


def read_lines(path: Path | str, *, empty: bool = False) -> Iterator[str]:
    """The lines of a UTF-8 file, streamed. A file without any is an error, unless it may be."""
    number = 0
    with _opened(path) as file:
        while line := file.readline(LONGEST):
            number += 1
            if number == 1:
                line = line.removeprefix(_BOM)
                if not line:
                    number = 0
                    break
            yield _text(line, path, number)
    if not (number or empty):
        raise HeedfulError(f"{path} is empty: it must hold one text a line")


def read_parallel(source: Path | str, target: Path | str) -> Iterator[tuple[str, str]]:
    """Lines of two files that belong to each other; if one has more, that is an error at once."""
    here, there = count_lines(source), count_lines(target)
    if here != there:
        longer, short = (source, target) if here > there else (target, source)
        raise HeedfulError(
            f"{source} has {here:,} lines, {target} has {there:,}: line {min(here, there) + 1:,} "
            f"of {longer} has no partner in {short}. Lines must come in pairs"
        )
    yield from zip(read_lines(source), read_lines(target), strict=True)


def count_lines(path: Path | str, most: int | None = None) -> int:
    """How many lines `read_lines` will give; the last one need not end in a newline.

    Counting stops once there are `most`. A file that has not changed is not counted twice.
    """
    try:
        now = os.stat(path)
    except OSError:
        return _count(str(path), most)  # which says what is wrong
    if stat.S_ISFIFO(now.st_mode):
        raise HeedfulError(f"{path} is a pipe, which can be read only once: write it to a file")
    return _count_once(str(path), most, now.st_size, now.st_mtime_ns, now.st_ino)


def content_hash(path: Path | str) -> str:
    """The SHA-256 of a file, as it lies there."""
    digest = hashlib.sha256()
    with _open(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


@lru_cache(maxsize=1024)
def _count_once(path: str, most: int | None, *_: int) -> int:
    return _count(path, most)


def _count(path: str, most: int | None) -> int:
    count, last = 0, b"\n"
    with _opened(path) as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
            last = block
            if most is not None and count >= most:
                return most
    return count + (not last.endswith(b"\n"))


def _text(line: bytes, path: Path | str, number: int) -> str:
    """A line without its end, as text, or an error that says where it is not text."""
    if len(line) == LONGEST and not line.endswith(b"\n"):
        raise HeedfulError(
            f"{path} is not lines of text: line {number:,} is longer than {LONGEST >> 20} MiB. "
            "A line ends in a newline"
        )
    if b"\0" in line:
        raise HeedfulError(
            f"{path} is not plain text: line {number:,} has a NUL byte at its byte "
            f"{line.index(0) + 1:,}. {_remedy(line, number)}"
        )
    try:
        return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise HeedfulError(
            f"{path} is not UTF-8 text: line {number:,} has the byte "
            f"0x{error.object[error.start]:02x} at its byte {error.start + 1:,} "
            f"({error.reason}). {_remedy(line, number)}"
        ) from None


def _remedy(line: bytes, number: int) -> str:
    kind = looks_like(line) if number == 1 else None
    if kind == "zip":
        return "It looks like a zip archive: unpack it"
    if kind is not None:
        return f"It looks like {kind}: unpack it, or let its name say so"
    if number == 1 and line.startswith(_UTF16):
        return "It looks like UTF-16. Convert it with: iconv -f utf-16 -t utf-8"
    if b"\0" in line:
        return "Remove it with: tr -d '\\0'. If there are many, the file is UTF-16 or no text"
    return "Convert it from what it is, e.g.: iconv -f latin1 -t utf-8"


def _opened(path: Path | str) -> BinaryIO:
    return unpacked(_open(path), path)


def _open(path: Path | str) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise HeedfulError(
            f"no file {path}: check the name, and the folder it is relative to"
        ) from None
    except IsADirectoryError:
        raise HeedfulError(f"{path} is a folder, not a text file: name a file in it") from None
    except OSError as error:
        raise HeedfulError(f"{path} cannot be read: {error.strerror or error}") from error

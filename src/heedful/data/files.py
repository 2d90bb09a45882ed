"""Text files, read line by line, with errors that name the file and the line.

Only a newline ends a line (with a carriage return before it or not); other characters that some
programs break lines at are part of the text. A byte order mark is skipped.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from heedful.errors import HeedfulError

_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 20


@runtime_checkable
class ReadsFiles(Protocol):
    """A problem made from files: what they hold is part of what the problem is."""

    def files(self) -> tuple[Path, ...]:
        """Every file that examples come from."""
        ...


def read_lines(path: Path | str) -> Iterator[str]:
    """The lines of a UTF-8 file, streamed. A file without any is an error."""
    number = 0
    with _open(path) as handle:
        for number, line in enumerate(handle, start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
                if not line:
                    break
            try:
                yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                raise HeedfulError(
                    f"{path} is not UTF-8 text: line {number:,} has the byte "
                    f"0x{error.object[error.start]:02x} at its byte {error.start + 1:,} "
                    f"({error.reason}). Convert it with: iconv -t utf-8"
                ) from None
        else:
            if number:
                return
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


def count_lines(path: Path | str) -> int:
    """How many lines `read_lines` will give; the last one need not end in a newline."""
    count, last = 0, b"\n"
    with _open(path) as handle:
        while block := handle.read(_BLOCK):
            count += block.count(b"\n")
            last = block
    return count + (not last.endswith(b"\n"))


def content_hash(path: Path | str) -> str:
    """The SHA-256 of what a file holds."""
    digest = hashlib.sha256()
    with _open(path) as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


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

"""Lines in, lines out: a file or stdin to read from, a file or stdout to write to.

Input is checked to be UTF-8 from its first line to its last before anything is written. An output
file is written beside and renamed, so that a failure leaves what was there as it was.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from heedful.cli.screen import note
from heedful.data.files import read_lines
from heedful.errors import HeedfulError

Write = Callable[[str], None]


@contextmanager
def reading(path: Path | None) -> Iterator[Iterator[str]]:
    """The lines of a file, or of stdin where there is none, streamed. No lines are no error."""
    if path is not None:
        yield _checked(path, str(path))
        return
    with tempfile.NamedTemporaryFile(prefix="heedful-stdin-") as kept:
        if sys.stdin.isatty():
            note("reading from the terminal, one text a line; end with Ctrl-D")
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        yield _checked(Path(kept.name), "stdin")


@contextmanager
def writing(path: Path | None) -> Iterator[Write]:
    """A function that writes a line, to stdout or to a file that appears when all went well."""
    if path is None:
        yield _writer(sys.stdout.buffer.write, sys.stdout.flush)
        return
    place = path.resolve()
    if place.exists() and not place.is_file():  # /dev/null, a pipe: nothing to be renamed over
        with open(place, "wb", buffering=0) as stream:
            yield _writer(stream.write)
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
    except OSError as error:
        raise HeedfulError(f"cannot write {path}: {error.strerror}") from error
    try:
        with open(handle, "wb") as file:
            yield _writer(file.write)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, place.stat().st_mode if place.exists() else 0o666 & ~_umask())
        os.replace(name, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def one_line(text: str) -> str:
    """A text with every line break in it written as a space."""
    return text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")


def _checked(path: Path, called: str) -> Iterator[str]:
    try:
        for _ in read_lines(path, empty=True):
            pass
    except HeedfulError as error:
        raise HeedfulError(str(error).replace(str(path), called)) from error
    return read_lines(path, empty=True)


def _writer(write: Callable[[bytes], object], flush: Callable[[], None] | None = None) -> Write:
    def line(text: str) -> None:
        write(text.encode("utf-8", "replace") + b"\n")
        if flush is not None:
            flush()

    return line


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

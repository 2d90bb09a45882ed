"""Compressed files, unpacked as they are read: which kind a file is, its name says.

gzip, bzip2 and xz come with Python; zstd needs the package `zstandard`. However much a file
unpacks to, memory holds a block of it. A file that is cut short or damaged is an error.
"""

import bz2
import gzip
import importlib
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from heedful.errors import HeedfulError

KINDS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_MAGIC = {  # how files of these kinds begin
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_BLOCK = 1 << 16
_PACKED = 512  # bytes of zstd unpacked at once: no more than 16 MiB can come of them


class _Reads(Protocol):
    def read(self, size: int, /) -> bytes: ...


def plain_name(path: Path | str) -> str:
    """A file's name without what says that it is compressed.

    >>> plain_name("corpora/train.tsv.gz")
    'train.tsv'
    """
    name = Path(path).name
    return name[: -len(Path(name).suffix)] if Path(name).suffix.lower() in KINDS else name


def looks_like(start: bytes) -> str | None:
    """The kind of packed file that begins so, whatever its name; None for others."""
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)


def unpacked(file: BinaryIO, path: Path | str) -> BinaryIO:
    """What the open `file` holds, unpacked if the name `path` says that it is packed."""
    kind = KINDS.get(Path(path).suffix.lower())
    if kind is None:
        return file
    try:
        return io.BufferedReader(_Unpacked(file, path, kind), _BLOCK)
    except BaseException:
        file.close()
        raise


class _Unpacked(io.RawIOBase):
    """Bytes unpacked on demand. What goes wrong is said with the file's name."""

    def __init__(self, file: BinaryIO, path: Path | str, kind: str) -> None:
        self._file, self._path, self._kind = file, path, kind
        self._packed = _openers[kind](file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._packed.read(len(buffer))
        except EOFError:
            raise HeedfulError(
                f"{self._path} ends in the middle of its {self._kind} data: it is not whole. "
                "Copy or make it again"
            ) from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise HeedfulError(
                f"{self._path} is not {self._kind}, or is damaged ({error}). Copy or make it "
                "again, or name it after what it is"
            ) from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _Frames:
    """zstd, frame after frame. The package's own reader takes a file cut short for a whole one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._zstandard = file, _zstandard(file.name)
        self._frame: Any = None
        self._ready = io.BytesIO()

    def read(self, size: int, /) -> bytes:
        while not (data := self._ready.read(size)):
            packed = self._file.read(_PACKED)
            if not packed:
                if self._frame is not None:
                    raise EOFError
                break
            self._ready = io.BytesIO(self._unpack(packed))
        return data

    def _unpack(self, packed: bytes) -> bytes:
        parts = []
        while packed:
            if self._frame is None:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            try:
                parts.append(self._frame.decompress(packed))
            except self._zstandard.ZstdError as error:
                raise OSError(str(error)) from None
            packed = b""
            if self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
        return b"".join(parts)


def _zstandard(path: str) -> Any:
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        raise HeedfulError(
            f"{path} is compressed with zstd, which needs one more package: pip install zstandard"
        ) from None


_openers: dict[str, Callable[[BinaryIO], _Reads]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file, mode="rb"),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": _Frames,
}

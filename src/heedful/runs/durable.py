"""Files that are whole or not there: written beside, synced, then renamed into place."""

import hashlib
import os
import shutil
import uuid
from pathlib import Path

TEMPORARY = ".writing-"  # a name that begins so is half-written
TRASH = ".trash-"  # a name that begins so is half-deleted


def write_file(path: Path, content: str) -> None:
    """Put a text file in place of the one that is there, so that a reader sees one or the other."""
    beside = path.with_name(f"{TEMPORARY}{path.name}-{uuid.uuid4().hex[:8]}")
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    sync(path.parent)


def begin_folder(path: Path) -> Path:
    """A new hidden folder beside `path`, to be filled and then handed to `place_folder`."""
    beside = path.with_name(f"{TEMPORARY}{path.name}-{uuid.uuid4().hex[:8]}")
    beside.mkdir(parents=True)
    return beside


def place_folder(beside: Path, path: Path) -> None:
    """Sync every file of a filled folder and rename it to `path`; what was there goes."""
    for file in beside.iterdir():
        sync(file)
    sync(beside)
    if path.exists():
        delete_folder(path)
    os.rename(beside, path)
    sync(path.parent)


def delete_folder(path: Path) -> None:
    """Remove a folder; a crash in the middle leaves only a hidden name for `sweep` to finish."""
    trash = path.with_name(f"{TRASH}{path.name}-{uuid.uuid4().hex[:8]}")
    os.rename(path, trash)
    shutil.rmtree(trash)


def sweep(folder: Path) -> list[str]:
    """Remove what a crash left half-written or half-deleted; the names removed."""
    left = [p for p in folder.iterdir() if p.name.startswith((TEMPORARY, TRASH))]
    for path in left:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return sorted(path.name for path in left)


def sync(path: Path) -> None:
    """Make sure that a file's content, or a folder's list of names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

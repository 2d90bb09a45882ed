"""Piano performances as they are published: MAESTRO, and a small part of such music.

Hawthorne et al., "Enabling Factorized Piano Music Modeling and Generation with the MAESTRO
Dataset", ICLR 2019, https://arxiv.org/abs/1810.12247; Foscarin, McLeod, Rigaux, Jacquemard and
Sakai, "ASAP: a Dataset of Aligned Scores and Performances", ISMIR 2020.
"""

import csv
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.data.archives import read_lines
from heedful.data.sources import Download
from heedful.errors import HeedfulError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.music import PublishedPerformances
from heedful.registry import problems
from heedful.text.midi import MOST_BYTES, Note, parsed

_MAESTRO = "maestro/maestro-v3.0.0-midi.zip"
_URL = "https://storage.googleapis.com/magentadata/datasets/maestro/v3.0.0/maestro-v3.0.0-midi.zip"
_SPLITS = {TRAIN: "train", VALID: "validation", TEST: "test"}
_PIECES, _INDEX = "piano_midi/performances.tar.xz", "piano_midi/index.csv.xz"


@problems.register("music_maestro")
@dataclass(frozen=True, kw_only=True)
class Maestro(PublishedPerformances):
    """200 hours of piano, played at a competition: MAESTRO 3.0.0, with its own splits.

    Read from the .zip file as it is published, 58 MB, never unpacked.
    """

    def downloads(self) -> tuple[Download, ...]:
        return (Download(_MAESTRO, (_URL,)),)

    def pieces(self, split: str, files: Mapping[str, Path]) -> Iterator[list[Note]]:
        path = files[_MAESTRO]
        rows = csv.DictReader(read_lines(path, "*maestro-v3.0.0.csv"))
        wanted = [row["midi_filename"] for row in rows if row["split"] == _SPLITS[split]]
        try:
            with zipfile.ZipFile(path) as archive:
                members = {one.filename: one for one in archive.infolist()}
                for name in wanted:
                    yield _piece(archive, members, name, path)
        except (OSError, zipfile.BadZipFile, RuntimeError) as error:
            raise HeedfulError(f"{path} is damaged ({error}): delete it and get it again") from None


def _piece(
    archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], name: str, path: Path
) -> list[Note]:
    found = [one for one in members.values() if one.filename.endswith(f"/{name}")]
    if not found:
        raise HeedfulError(f"no piece {name} in {path}: delete it and get it again")
    if found[0].file_size > MOST_BYTES:
        raise HeedfulError(f"{name} in {path} has over {MOST_BYTES:,} bytes")
    return parsed(archive.read(found[0]), f"{name} in {path}")


@problems.register("music_piano_midi")
@dataclass(frozen=True, kw_only=True)
class PianoMidi(PublishedPerformances):
    """Six hours of piano by competitors: 108 pieces of the ASAP collection, 96, 6 and 6.

    The files are made from ASAP and published nowhere: they come from a mirror.
    """

    def downloads(self) -> tuple[Download, ...]:
        return (
            Download(
                _PIECES,
                (),
                "cea3f58a85b6aa3f100904b57bc9848182aba6ad8a7174141824cef9ca54a468",
                1_538_624,
            ),
            Download(
                _INDEX,
                (),
                "29f50b31b6780f0e291fec83a45d0d043990ae9336d3ff9f910403121194cf02",
                3_624,
            ),
        )

    def pieces(self, split: str, files: Mapping[str, Path]) -> Iterator[list[Note]]:
        rows = csv.DictReader(read_lines(files[_INDEX]))
        wanted = {row["file"] for row in rows if row["split"] == split}
        path = files[_PIECES]
        try:
            with tarfile.open(path, "r|xz") as archive:
                for member in archive:
                    stream = archive.extractfile(member) if member.name in wanted else None
                    if stream is not None and member.size <= MOST_BYTES:
                        yield parsed(stream.read(), f"{member.name} in {path}")
        except (OSError, EOFError, tarfile.TarError) as error:
            raise HeedfulError(f"{path} is damaged ({error}): delete it and get it again") from None

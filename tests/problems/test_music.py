"""Music to learn: a folder of MIDI files, published performances and chorales, made-up motifs."""

import io
import json
import lzma
import random
import tarfile
import zipfile
from itertools import islice
from pathlib import Path

import pytest

from heedful.config import vary
from heedful.data.preparation import prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems import music_piano
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.music import FolderPerformance
from heedful.problems.music_chorales import JsbChorales, chorales
from heedful.problems.music_motifs import LONGS, Motifs
from heedful.registry import problems
from heedful.text.chorale import REST
from heedful.text.midi import Note, composed
from heedful.text.performance import EVENTS, LOUD, OFF, WAIT, Performance, kinds, played
from heedful.text.specials import RESERVED

REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data"
TOKENIZER = Performance().train([])


def scale(first: int = 60, notes: int = 8) -> bytes:
    return composed([Note(0.2 * i, 0.2 * i + 0.1, first + i, 64) for i in range(notes)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty pieces, half of them in a folder within, and a file that is none."""
    (tmp_path / "midi" / "more").mkdir(parents=True)
    for number in range(40):
        name = f"more/{number}.MID" if number % 2 else f"{number}.midi"
        (tmp_path / "midi" / name).write_bytes(scale(40 + number))
    (tmp_path / "midi" / "notes.txt").write_text("not music")
    return tmp_path


def own(folder: Path, **fields: object) -> FolderPerformance:
    return vary(problems.get("music_performance")(), {"folder": str(folder / "midi"), **fields})


class TestFolder:
    def test_files_go_to_splits_by_name_and_are_prepared(self, folder: Path) -> None:
        problem = own(folder, copies=3, held_out=0.2)
        assert len(problem.files()) == 40
        prepared = prepare("music_performance", problem, folder / "data")
        counts = {name: of["examples"] for name, of in prepared.info["splits"].items()}
        assert counts[TRAIN] == 3 * (40 - counts[VALID] - counts[TEST]) and counts[VALID] > 0
        heard = TOKENIZER.notes(TOKENIZER.encode(prepared.split(VALID).raw(0)["targets"]))
        assert len(heard) == 8 and heard[0].start == 0

    def test_only_what_is_trained_on_is_moved(self, folder: Path) -> None:
        problem = own(folder, copies=30, held_out=0.2)
        moved = [
            TOKENIZER.notes(TOKENIZER.encode(e["targets"]))
            for e in problem.examples(TRAIN, random.Random(1))
        ]
        one = moved[:30]
        assert len({notes[0].pitch for notes in one}) == 7  # up to 3 semitones up and down
        assert len({notes[-1].end for notes in one}) > 2
        for split in (VALID, TEST):
            for example in problem.examples(split, random.Random(2)):
                notes = TOKENIZER.notes(TOKENIZER.encode(example["targets"]))
                assert [n.start for n in notes] == pytest.approx([0.2 * i for i in range(8)])

    def test_windows_cover_a_piece_and_begin_anywhere_in_training(self) -> None:
        problem = FolderPerformance(piece=11)
        symbols = list(range(33))
        assert [len(window) for window in problem.windows(symbols)] == [10, 10, 10, 3]
        firsts = set()
        for seed in range(60):
            windows = list(problem.windows(symbols, random.Random(seed), whole=2))
            assert [s for window in windows for s in window] == symbols
            assert all(len(window) <= 10 for window in windows)
            firsts.add(len(windows[0]))
        assert firsts == {0, 2, 4, 6, 8}
        assert list(problem.windows([1, 2], random.Random(0))) == [[1, 2]]

    def test_folders_without_music_are_refused(self, folder: Path) -> None:
        (folder / "empty").mkdir()
        for name, reason in (
            ("empty", "has no MIDI files in it"),
            ("nowhere", "there is no folder of MIDI files"),
        ):
            problem = vary(own(folder), {"folder": str(folder / name)})
            with pytest.raises(HeedfulError, match=reason):
                prepare("music_performance", problem, folder / "data")
        with pytest.raises(UsageError, match="needs a folder of MIDI files"):
            FolderPerformance().files()
        with pytest.raises(HeedfulError, match="fell to the .* split"):
            list(own(folder, held_out=0.0001).examples(VALID, random.Random(0)))

    def test_a_bad_file_among_good_ones_is_named(self, folder: Path) -> None:
        for path in sorted((folder / "midi").rglob("*.midi")):
            path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(HeedfulError, match=r"midi is (cut short|damaged)"):
            prepare("music_performance", own(folder), folder / "data")

    def test_numbers_that_make_no_sense_are_refused(self) -> None:
        for fields, reason in (
            ({"piece": 8}, "problem.piece"),
            ({"transpose": 13}, "problem.transpose"),
            ({"copies": 0}, "problem.copies"),
            ({"stretch": ()}, "problem.stretch"),
            ({"stretch": (0.0,)}, "problem.stretch"),
            ({"held_out": 0.5, "folder": "."}, "problem.held_out"),
        ):
            with pytest.raises(UsageError, match=reason):
                FolderPerformance(**fields).files()


class TestPublished:
    def test_maestro_is_read_where_it_lies(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "maestro").mkdir()
        rows = ["canonical_composer,canonical_title,split,year,midi_filename,audio_filename"]
        with zipfile.ZipFile(tmp_path / "maestro" / "maestro-v3.0.0-midi.zip", "w") as archive:
            for name, split in (("a", "train"), ("b", "validation"), ("c", "test")):
                rows.append(f'Bach,"A, title",{split},2004,2004/{name}.midi,2004/{name}.wav')
                archive.writestr(f"maestro-v3.0.0/2004/{name}.midi", scale())
            archive.writestr("maestro-v3.0.0/maestro-v3.0.0.csv", "\n".join(rows) + "\n")
        monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
        problem = vary(problems.get("music_maestro")(), {"copies": 2})
        prepared = prepare("music_maestro", problem, tmp_path / "data")
        counts = {name: of["examples"] for name, of in prepared.info["splits"].items()}
        assert counts == {TRAIN: 2, VALID: 1, TEST: 1}
        with pytest.raises(HeedfulError, match="must be fetched first"):
            problem.examples(TRAIN, random.Random(0))
        with zipfile.ZipFile(tmp_path / "maestro" / "maestro-v3.0.0-midi.zip", "w") as archive:
            archive.writestr("maestro-v3.0.0/maestro-v3.0.0.csv", "\n".join(rows) + "\n")
        with pytest.raises(HeedfulError, match="no piece 2004/a.midi in"):
            list(problem.pieces(TRAIN, {music_piano._MAESTRO: tmp_path / music_piano._MAESTRO}))

    def test_the_small_collection_is_read_from_its_archive(self, tmp_path: Path) -> None:
        pieces, index = tmp_path / "p.tar.xz", tmp_path / "index.csv.xz"
        with tarfile.open(pieces, "w:xz") as archive:
            for name in ("A/one.mid", "B/two.mid"):
                info = tarfile.TarInfo(name)
                info.size = len(scale())
                archive.addfile(info, io.BytesIO(scale()))
        index.write_bytes(lzma.compress(b"file,split\nA/one.mid,train\nB/two.mid,valid\n"))
        files = {music_piano._PIECES: pieces, music_piano._INDEX: index}
        problem = problems.get("music_piano_midi")()
        assert [len(p) for p in problem.pieces(TRAIN, files)] == [8]
        assert list(problem.pieces(TEST, files)) == []
        pieces.write_bytes(pieces.read_bytes()[:50])
        with pytest.raises(HeedfulError, match="is damaged"):
            list(problem.pieces(TRAIN, files))

    @pytest.mark.skipif(not (REAL / "piano_midi").is_dir(), reason=f"no performances at {REAL}")
    def test_the_real_small_collection_has_its_pieces(self) -> None:
        names = (music_piano._PIECES, music_piano._INDEX)
        problem = problems.get("music_piano_midi")()
        files = {name: REAL / name for name in names}
        assert sum(1 for _ in problem.pieces(VALID, files)) == 6
        windows = list(problem.read(files, TEST, random.Random(0)))
        sizes = [len(one["targets"].split()) for one in windows]
        assert max(sizes) == 2_047 and sizes.count(2_047) > len(sizes) / 2


class TestChorales:
    @pytest.fixture
    def mirror(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        piece = [[72, 67, 60, 48], [72, -1, 60, 48], [74, 67, 59, 47]] * 5
        held = {"train": [piece] * 3, "valid": [piece], "test": [piece[:2]]}
        (tmp_path / "jsb_chorales").mkdir()
        path = tmp_path / "jsb_chorales" / "Jsb16thSeparated.json"
        path.write_text(json.dumps(held))
        monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
        return path

    def test_the_published_file_is_read_in_its_split(self, mirror: Path, tmp_path: Path) -> None:
        problem = JsbChorales(copies=2, piece=33)
        prepared = prepare("music_jsb_chorales", problem, tmp_path / "data")
        valid = [prepared.split(VALID).raw(i)["targets"] for i in range(2)]
        assert valid[0].startswith("72 67 60 48 72 - 60 48 74 67 59 47 72")
        assert [len(text.split()) for text in valid] == [32, 28]
        train = prepared.split(TRAIN).lengths["targets"]
        assert len(train) >= 12 and {length % 4 for length in train} == {1}  # the end counts
        assert prepared.split(TEST).raw(0)["targets"] == "72 67 60 48 72 - 60 48"

    def test_what_is_no_such_file_is_told(self, mirror: Path) -> None:
        for text in ("{}", "[", '{"train": [[[200]]], "valid": [], "test": []}'):
            mirror.write_text(text)
            with pytest.raises(HeedfulError, match="does not hold the chorales"):
                chorales(mirror)
        with pytest.raises(HeedfulError, match="must be fetched first"):
            JsbChorales().examples(TRAIN, random.Random(0))

    @pytest.mark.skipif(not (REAL / "jsb_chorales").is_dir(), reason=f"no chorales at {REAL}")
    def test_the_real_chorales_are_as_many_as_published(self) -> None:
        found = chorales(REAL / "jsb_chorales" / "Jsb16thSeparated.json.xz")
        assert {k: len(v) for k, v in found.items()} == {"train": 229, "valid": 76, "test": 77}
        assert sum(len(piece) for of in found.values() for piece in of) == 92_536
        voices = {len(row) for of in found.values() for piece in of for row in piece}
        assert voices == {4}
        pitches = {p for of in found.values() for piece in of for row in piece for p in row}
        assert pitches - {REST} <= set(range(36, 82))


class TestMotifs:
    def test_a_motif_returns_and_what_is_known_of_it_can_be_told(self) -> None:
        problem = Motifs(shortest=4, longest=4, between=0)
        for seed in range(20):
            events, known = problem.melody(97, random.Random(seed))
            assert len(events) == len(known) == 97
            notes = [events[i : i + 3] for i in range(1, 97, 3)]
            motif, motifs = notes[:4], [notes[i : i + 4] for i in range(0, 32, 4)]
            for again in motifs:
                shift = again[0][0] - motif[0][0]
                assert again == [[on + shift, wait, off + shift] for on, wait, off in motif]
            assert not any(known[:13])
            assert [i for i in range(13, 97) if not known[i]] == list(range(13, 97, 12))

    def test_melodies_are_whole_and_of_the_length_asked_for(self) -> None:
        problem = Motifs()
        for split, length in ((TRAIN, 192), (VALID, 192), (TEST, 384)):
            for example in islice(problem.examples(split, random.Random(3)), 20):
                ids = TOKENIZER.encode(example["targets"])
                assert len(ids) == length
                events = [i - RESERVED for i in ids]
                assert events[0] == LOUD + 15 and all(0 <= e < EVENTS for e in events)
                assert {e - WAIT + 1 for e in events if WAIT <= e < LOUD} <= set(LONGS)
                assert all(34 <= n.pitch <= 94 for n in played(events))
                assert abs(kinds(events)["on"] - 1 / 3) < 0.02
                assert OFF <= events[3] < WAIT

    def test_the_same_seed_gives_the_same_and_it_is_prepared(self, tmp_path: Path) -> None:
        problem = Motifs(train_examples=5, valid_examples=2, test_examples=2)
        one = list(islice(problem.examples(TEST, random.Random(4)), 5))
        assert one == list(islice(problem.examples(TEST, random.Random(4)), 5))
        prepared = prepare("music_motifs", problem, tmp_path)
        assert set(prepared.split(TEST).lengths["targets"]) == {385}

    def test_numbers_that_make_no_sense_are_refused(self) -> None:
        for fields in ({"shortest": 0}, {"length": 40}, {"longer": 0}, {"interval": 25}):
            with pytest.raises(UsageError, match="problem.(shortest|length|longer|interval)"):
                Motifs(**fields)

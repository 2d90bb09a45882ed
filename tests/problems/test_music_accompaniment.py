"""Melodies and their voices: Bach's, and made-up canons."""

import json
import random
from itertools import islice
from pathlib import Path

import pytest

from heedful.data.preparation import prepare
from heedful.data.progress import silent
from heedful.errors import UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.music_accompaniment import Accompaniment, Canons
from heedful.registry import presets, problems

REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data"


def rows(text: str) -> list[list[str]]:
    words = text.split()
    return [words[i : i + 4] for i in range(0, len(words), 4)]


def test_of_a_chorale_the_soprano_is_read_and_all_voices_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = [[72, 67, 60, 48], [72, -1, 60, 48], [74, 67, 59, 47]] * 5
    (tmp_path / "jsb_chorales").mkdir()
    path = tmp_path / "jsb_chorales" / "Jsb16thSeparated.json"
    path.write_text(json.dumps({"train": [piece] * 3, "valid": [piece], "test": [piece[:2]]}))
    monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
    problem = Accompaniment(copies=2, piece=33)
    prepared = prepare("music_accompaniment", problem, tmp_path / "data")
    assert prepared.split(TEST).raw(0) == {"inputs": "72 72", "targets": "72 67 60 48 72 - 60 48"}
    read = problem.fetch(tmp_path, silent)
    for split in (TRAIN, VALID):
        found = list(read(split, random.Random(1)))
        assert all(o["inputs"].split() == [row[0] for row in rows(o["targets"])] for o in found)
        moved = {one["inputs"].split()[0] for one in found}
        assert len(moved) > 3 if split == TRAIN else moved == {"72", "74"}
    assert max(prepared.split(VALID).lengths["inputs"]) == 9
    assert max(prepared.split(VALID).lengths["targets"]) == 33


@pytest.mark.skipif(not (REAL / "jsb_chorales").is_dir(), reason=f"no chorales at {REAL}")
def test_the_real_chorales_keep_their_published_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    read = Accompaniment(copies=1).fetch(tmp_path, silent)
    whole = problems.get("music_jsb_chorales")().fetch(tmp_path, silent)
    for split in (VALID, TEST):
        ours = [one["targets"] for one in read(split, random.Random(0))]
        assert ours == [one["targets"] for one in whole(split, random.Random(0))]


class TestCanons:
    def test_all_voices_are_known_from_the_melody(self) -> None:
        problem = Canons(length=20, apart=3, lower=7)
        for one in islice(problem.examples(TRAIN, random.Random(1)), 30):
            melody = one["inputs"].split()
            sung = rows(one["targets"])
            assert len(melody) == len(sung) == 20
            assert [row[0] for row in sung] == melody
            for at, (_, alto, tenor, bass) in enumerate(sung):
                assert alto == (str(int(melody[at + 3]) - 7) if at + 3 < 20 else "-")
                assert tenor == (str(int(melody[at - 3]) - 14) if at >= 3 else "-")
                assert bass == (str(int(melody[at - 6]) - 21) if at >= 6 else "-")

    def test_melodies_differ_have_short_and_long_notes_and_come_again_by_the_seed(self) -> None:
        def drawn(seed: int) -> list[str]:
            found = islice(Canons().examples(TEST, random.Random(seed)), 10)
            return [one["inputs"] for one in found]

        assert drawn(3) == drawn(3) != drawn(4)
        assert len(set(drawn(3))) == 10
        steps = [int(b) - int(a) for m in drawn(3) for a, b in zip(m.split(), m.split()[1:])]  # noqa: B905
        assert steps.count(0) > 100 and set(steps) <= {0, *range(1, 5), *range(-4, 0)}

    def test_it_is_prepared_and_numbers_that_make_no_sense_are_refused(
        self, tmp_path: Path
    ) -> None:
        problem = Canons(train_examples=4, valid_examples=2, test_examples=2)
        prepared = prepare("music_canons", problem, tmp_path)
        assert set(prepared.split(TEST).lengths["targets"]) == {4 * 48 + 1}
        assert set(prepared.split(TEST).lengths["inputs"]) == {49}
        for fields in ({"lower": 13}, {"apart": -1}, {"length": 0}):
            with pytest.raises(UsageError, match="problem.lower is 0 to 12"):
                Canons(**fields)


def test_a_whole_canon_is_as_long_as_its_preset_trains_on() -> None:
    assert 4 * Canons().length + 1 == presets.get("music_accompaniment_canons")().batch.limit

"""`bench decode`: the same weights give the same ids everywhere, and each way has its row."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from heedful.bench import decode as room
from heedful.bench.decode import RIVALS, Measuring, bench_decode, ours, stand_in
from heedful.bench.defaults import stand_in_config
from heedful.bench.table import Row
from heedful.errors import UsageError
from heedful.nn.whole import has_whole_products
from heedful.runs.folder import RunFolder
from heedful.runs.loading import load_model
from heedful.text.specials import EOS

from .conftest import BITS, CPU


def measured(run: Path, data: Path, **changes: object) -> dict[str, Row]:
    usual = Measuring(run=run, beams=(3, 1), batch=5, sentences=12, repeats=2, rivals=())
    bench = bench_decode(replace(usual, **changes), CPU, data, lambda text: None)
    return {row.name: row for row in bench.rows}


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """All in this process, where a test can put others in their places."""
    monkeypatch.setattr(room, "Away", lambda entrant: entrant)


def test_others_say_the_same_ids_with_the_same_weights(learned: Path, data_folder: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("ctranslate2")
    rows = measured(learned, data_folder, rivals=RIVALS)
    for beam in (3, 1):
        mine = rows[f"heedful float32, beam {beam}"]
        for title in ("Hugging Face generate float32", "CTranslate2 float32"):
            theirs = rows[f"{title}, beam {beam}"]
            assert theirs.more["equal"] == 1.0, theirs
            assert theirs.more["tokens"] == mine.more["tokens"] > 12
            assert theirs.value is not None and theirs.value > 0
        assert rows[f"CTranslate2 int8, beam {beam}"].more["equal"] > 0.5
        over = rows[f"heedful over CTranslate2, float32, beam {beam}"]
        theirs = rows[f"CTranslate2 float32, beam {beam}"]
        assert over.value == pytest.approx((mine.value or 0) / (theirs.value or 1))


def test_the_model_is_told_as_it_is(learned: Path, data_folder: Path) -> None:
    little = Measuring(run=learned, beams=(1,), sentences=2, repeats=1, warmup=0, rivals=())
    said = bench_decode(little, CPU, data_folder, lambda text: None).settings
    model = RunFolder.open(learned).config().preset.model
    assert said["model"]["dim"] == model.dim and said["model"]["kind"] == "transformer"


def test_ours_says_what_was_learnt_in_both_precisions(learned: Path, data_folder: Path) -> None:
    rows = measured(learned, data_folder, precisions=("float32", "bfloat16"))
    assert list(rows) == [f"heedful {p}, beam {b}" for b in (3, 1) for p in room.PRECISIONS]
    assert rows["heedful bfloat16, beam 1"].more["equal"] > 0.7
    engine = ours(load_model(learned), "float32", 4, CPU)
    assert engine([[3, 4, 4, 1], [4, 3, 1]], 1) == [[4, 4, 3], [3, 4]]


def test_eight_bits_are_refused_on_a_gpu_before_anything_is_measured(tmp_path: Path) -> None:
    nothing = Measuring(run=tmp_path, precisions=("float32", "int8"), rivals=())
    with pytest.raises(UsageError, match="on a CPU, and this is on cuda"):
        bench_decode(nothing, torch.device("cuda"), tmp_path, lambda text: None)


@pytest.mark.skipif(not has_whole_products(), reason="no products of eight bits here")
def test_eight_bits_have_a_row_of_their_own(learned: Path, data_folder: Path) -> None:
    rows = measured(learned, data_folder, precisions=("float32", "int8"))
    assert rows["heedful int8, beam 1"].value and rows["heedful int8, beam 1"].more["equal"] > 0.5


def test_all_take_turns(
    learned: Path, data_folder: Path, at_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ctranslate2")
    heard: list[str] = []

    def noted(who: str, make):
        def made(*arguments):
            engine = make(*arguments)
            return lambda sources, beam: heard.append(who) or engine(sources, beam)

        return made

    monkeypatch.setattr(room, "ours", noted("o", room.ours))
    monkeypatch.setattr(room, "translate", noted("t", room.translate))
    rows = measured(
        learned, data_folder, rivals=RIVALS[1:], beams=(1,), batch=12, repeats=3, warmup=1
    )
    # Which outputs of ours end is asked first, then what they are; all are warmed up; then come
    # the rounds.
    assert "".join(heard) == "o" + "o" + "o" + "tt" + "ott" * 3
    assert all(row.value for row in rows.values())


def test_who_fails_in_a_later_round_loses_only_a_row(
    learned: Path, data_folder: Path, at_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ctranslate2")
    real, asked = room.translate, []

    def tires(*arguments):
        engine = real(*arguments)

        def answer(sources, beam):
            asked.append(1)
            if len(asked) > 4:
                raise ValueError("no more")
            return engine(sources, beam)

        return answer

    monkeypatch.setattr(room, "translate", tires)
    rows = measured(
        learned, data_folder, rivals=RIVALS[1:], beams=(1,), batch=12, repeats=3, warmup=1
    )
    assert rows["CTranslate2 float32, beam 1"].note == "failed: ValueError: no more"
    assert rows["heedful float32, beam 1"].value
    assert len(asked) == 6  # two warmed up, one round, and each fails once


def test_outputs_that_differ_are_seen(
    learned: Path, data_folder: Path, at_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    real = room.generate

    def other(*arguments):
        engine = real(*arguments)
        return lambda sources, beam: [
            [*engine(sources, beam)[0][:-1], 2],
            *engine(sources, beam)[1:],
        ]

    monkeypatch.setattr(room, "generate", other)
    rows = measured(learned, data_folder, rivals=RIVALS[:1], beams=(1,))
    assert rows["Hugging Face generate float32, beam 1"].more["equal"] == pytest.approx(9 / 12)


def test_sentences_whose_outputs_do_not_end_are_left_out(
    learned: Path, data_folder: Path, at_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with a beam of 3 only, another in bfloat16 only; and nobody is asked for them again."""
    real, asked, endless = room.ours, [], {("float32", 3): 1, ("bfloat16", 1): 2}

    def lingers(loaded, precision, extra, device):
        engine = real(loaded, precision, extra, device)

        def answer(sources, beam):
            asked.extend(map(tuple, sources))
            outputs = engine(sources, beam)
            which = endless.pop((precision, beam), None)
            if which is not None:  # of the first batch that is asked for
                outputs[which] = [3] * (len(sources[which]) + extra)
            return outputs

        return answer

    monkeypatch.setattr(room, "ours", lingers)
    told: list[str] = []
    usual = Measuring(run=learned, beams=(3, 1), batch=5, sentences=12, repeats=1, warmup=0)
    both = replace(usual, rivals=(), precisions=("float32", "bfloat16"))
    bench = bench_decode(both, CPU, data_folder, told.append)
    assert (bench.settings["sentences"], bench.settings["left_out"]) == (10, 2)
    assert told[0] == "left out: 2 of 12 sentences, whose outputs do not end"
    first = asked[:12]
    ending = [first[0], *first[3:]]  # the longest first, and the second and third are gone
    # Twice what ours should say, and a turn of each row: both beams, both precisions.
    assert asked[4 * 12 :] == ending * (2 + 4)


def test_where_no_output_ends_all_are_measured_and_that_is_said(
    learned: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(loaded, precision, extra, device):
        return lambda sources, beam: [[3] * (len(source) + extra) for source in sources]

    monkeypatch.setattr(room, "ours", endless)
    told: list[str] = []
    little = Measuring(run=learned, beams=(1,), sentences=5, repeats=1, warmup=0, rivals=())
    bench = bench_decode(little, CPU, data_folder, told.append)
    assert (bench.settings["sentences"], bench.settings["left_out"]) == (5, 0)
    assert bench.rows[0].value and bench.notes[-1] == told[0] == room.NONE_ENDS


def test_outputs_of_others_have_the_room_of_their_batch(learned: Path, tmp_path: Path) -> None:
    """A longer sentence of another batch gives them no more."""
    pytest.importorskip("transformers")
    room.export(learned, "huggingface", tmp_path / "theirs", None)
    weights = load_file(tmp_path / "theirs" / "model.safetensors")
    weights["final_logits_bias"][:, EOS] = -1e9  # no output ends
    save_file(weights, tmp_path / "theirs" / "model.safetensors", {"format": "pt"})
    engine = room.generate(tmp_path / "theirs", "float32", 4, CPU)
    assert [len(output) for output in engine([[3, 4, 4, 3, 1], [4, 1]], 1)] == [9, 9]
    assert [len(output) for output in engine([[4, 1]], 1)] == [6]


def test_who_is_not_installed_is_named_and_who_fails_loses_only_a_row(
    learned: Path, data_folder: Path, at_home: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")

    def fail(*arguments):
        raise ValueError("no layout for it")

    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    monkeypatch.setattr(room, "generate", fail)
    rows = measured(learned, data_folder, rivals=RIVALS, beams=(1,))
    assert rows["CTranslate2"].note == "not installed, pip install 'heedful[bench]'"
    note = rows["Hugging Face generate float32, beam 1"].note
    assert note == "failed: ValueError: no layout for it"
    assert rows["heedful float32, beam 1"].value


def test_what_cannot_be_exported_loses_only_a_row(
    learned: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")

    def refuse(*arguments):
        raise UsageError("no place for it there")

    monkeypatch.setattr(room, "export", refuse)
    rows = measured(learned, data_folder, rivals=RIVALS[:1], beams=(1,))
    note = rows["Hugging Face generate float32, beam 1"].note
    assert note == "failed: no place for it there"
    assert rows["heedful float32, beam 1"].value


def test_where_ours_fails_the_others_are_still_measured(
    learned: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ctranslate2")

    def fail(*arguments):
        raise torch.OutOfMemoryError("pages of it")

    monkeypatch.setattr(room, "ours", fail)
    rows = measured(learned, data_folder, rivals=RIVALS[1:], beams=(1,))
    assert rows["heedful float32, beam 1"].note == "failed: out of memory"
    theirs = rows["CTranslate2 float32, beam 1"]
    assert theirs.value and theirs.more["equal"] is None


@pytest.mark.parametrize("changes", [{"beams": (0,)}, {"batch": 0}, {"precisions": ("float8",)}])
def test_what_cannot_be_is_refused(changes: dict) -> None:
    with pytest.raises(UsageError):
        Measuring(run=Path("x"), **changes)


def test_without_a_run_one_is_trained_for_a_moment(tmp_path: Path, data_folder: Path) -> None:
    small = {"model.dim": "8", "model.ff": "8", "model.heads": "2", "batch.tokens": "256"}
    config = stand_in_config(
        "transformer_tiny", "algorithmic_reverse_binary40", 2, 3, CPU, small, BITS
    )
    run = stand_in(config, tmp_path / "run", data_folder, CPU, lambda text: None)
    there = RunFolder.open(run)
    assert there.config().preset.training.seed == 3
    assert [checkpoint.step for checkpoint in there.checkpoints.steps()] == [2]
    rows = measured(run, data_folder, beams=(1,))
    assert rows["heedful float32, beam 1"].value
    usual = stand_in_config(None, None, 300, 1, torch.device("cuda"), {}, {})
    assert (usual.preset_name, usual.problem_name) == ("transformer_base", "translate_demo_en_fr")

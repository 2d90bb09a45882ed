"""Each defect, planted into clean data, is found; clean data gives no warning."""

import tracemalloc

import pytest

from heedful.config import vary
from heedful.doctor import repeats
from heedful.doctor.checkup import check_data
from heedful.registry import problems
from heedful.text.bytes import Bytes
from heedful.text.subwords import Subwords
from heedful.text.words import Words

from .conftest import clean, planted, ready


def test_clean_data_gives_not_even_a_note(look) -> None:
    found = look(clean(count=1_000))
    assert {f.level for f in found.values()} == {"ok"}, [
        f for f in found.values() if f.level != "ok"
    ]
    assert "train 1,000, valid 120, test 120" in found["examples"].title
    assert all(not f.advice and not f.cases for f in found.values())


def test_few_examples_are_named(look) -> None:
    assert look(clean(count=50))["examples"].level == "note"
    few = look(clean(count=1_000, held=9))["examples"]
    assert few.level == "note" and "valid, test" in few.advice
    lines = {**clean(), "valid": []}
    assert look(lines)["examples"].level == "warning"


def test_empty_pairs_are_counted_and_shown_by_their_raw_number(look) -> None:
    lines = clean()
    lines["train"][6] = "the cat\t "
    lines["test"][2] = "\tdie Katze"
    found = look(lines)
    assert (found["empty_train"].level, found["empty_train"].number) == ("note", 1)
    assert [(c.split, c.number) for c in found["empty_train"].cases] == [("train", 7)]
    assert found["empty_train"].cases[0].texts == {"inputs": "the cat", "targets": " "}
    assert [(c.split, c.number) for c in found["empty_test"].cases] == [("test", 3)]
    lines["train"][:200] = ["\tx"] * 200
    assert look(lines)["empty_train"].level == "problem"


def test_pairs_that_are_too_long_are_said_to_be_dropped_and_why(look) -> None:
    lines = clean()
    lines["train"][3] = "\t".join(" ".join(f"{word} {i}" for i in range(60)) for word in ("a", "b"))
    dropped = look(lines)["dropped"]
    assert dropped.level == "note" and dropped.number == 1
    assert (
        "over 64 tokens, not trained on: 1 (0.2 %)" in dropped.title
        and "batch.row=" in dropped.advice
    )
    assert dropped.cases[0].number == 4 and dropped.cases[0].texts["inputs"].startswith("a 0 a 1")
    lines["train"] += [f"{lines['train'][3]}{i}" for i in range(200)]
    assert look(lines)["dropped"].level == "problem"


def test_inputs_that_cannot_be_decoded_are_named(tmp_path, small) -> None:
    lines = clean()
    preset = vary(small, {"decode.longest_input": 5})
    found = {
        f.name: f for f in check_data("planted", ready(planted(lines), tmp_path), preset).findings
    }
    assert found["undecodable_test"].level == "problem"
    assert "decode.longest_input=5" in found["undecodable_test"].title


def test_a_pair_of_unlike_lengths_stands_out(look) -> None:
    lines = clean()
    lines["train"][10] = f"the cat\t{'der Katze Haus ' * 9}"
    lines["valid"][4] = f"{'the cat house ' * 9}\tder"
    found = look(lines)["length_ratio"]
    assert found.level == "note" and found.number == 2
    assert {(c.split, c.number) for c in found.cases} == {("train", 11), ("valid", 5)}
    lines["train"][:20] = [f"{i}{lines['train'][10]}" for i in range(20)]
    assert look(lines)["length_ratio"].level == "warning"


def test_pairs_that_repeat_are_counted_over_all(look) -> None:
    lines = clean()
    first = lines["train"][0]
    lines["train"] += [first, first, lines["train"][1]]
    source = lines["train"][2].split("\t")[0]
    lines["train"].append(f"{source}\toft, oft Haus.")
    found = look(lines, most=10)  # texts that are read make no difference
    assert (found["duplicates"].level, found["duplicates"].number) == ("note", 3)
    case = found["duplicates"].cases[0]
    assert (case.number, case.note) == (1, "3 times") and "\t".join(case.texts.values()) == first
    several = found["several_targets"]
    assert (several.level, several.number) == ("note", 1)
    assert several.cases[0].texts["inputs"] == source
    lines["train"] += [first] * 200
    assert look(lines)["duplicates"].level == "warning"


def test_of_very_many_pairs_a_part_is_counted_and_scaled_up(look, monkeypatch) -> None:
    lines = clean(count=1_000)
    lines["train"] += lines["train"][:500]
    monkeypatch.setattr(repeats, "MOST", 400)
    monkeypatch.setattr(repeats, "CHUNK", 100)
    found = look(lines)["duplicates"]
    assert ": about " in found.title and found.level == "warning"
    assert 350 <= found.number <= 650


def test_what_is_in_training_and_in_a_test_is_found(look) -> None:
    lines = clean()
    lines["train"][5] = lines["test"][7]
    lines["train"][6] = lines["test"][8].split("\t")[0] + "\toft, oft Haus."
    lines["valid"][0] = lines["test"][9]
    found = look(lines)
    overlap = found["overlap_train_test"]
    assert overlap.level == "note" and overlap.title.endswith(": 1 (0.8 %); sources: 2 (1.7 %)")
    assert [(c.split, c.number, c.note) for c in overlap.cases] == [
        ("test", 8, ""),
        ("test", 9, "source only"),
    ]
    assert found["overlap_train_valid"].level == "ok"
    assert found["overlap_valid_test"].cases[0].number == 10
    lines["train"][:2] = lines["test"][:2]
    assert look(lines)["overlap_train_test"].level == "warning"
    lines["train"][:20] = lines["test"][:20]
    assert look(lines)["overlap_train_test"].level == "problem"
    lines = clean()
    for i in range(20):
        lines["train"][i] = lines["test"][i].split("\t")[0] + "\toft, oft Haus."
    assert look(lines)["overlap_train_test"].level == "warning"  # sources only


def test_lines_in_other_letters_stand_out(look) -> None:
    lines = clean()
    lines["train"][8] = lines["train"][8].split("\t")[0] + "\tКошка читает в саду."
    lines["train"][9] = "12 34 56 78 90.\t12 34 56 78 90."  # no letters: no script
    found = look(lines)
    assert found["script_inputs"].level == "ok" and "Latin 100.0 %" in found["script_inputs"].title
    odd = found["script_targets"]
    assert odd.level == "note" and "lines in other letters: Cyrillic 1" in odd.title
    assert [(c.number, c.note) for c in odd.cases] == [(9, "Cyrillic")]
    assert found["untranslated"].level == "ok"  # numbers stay as they are
    lines["test"][:2] = ["the cat reads\t猫はカタカナを読む", "the house\tこの家"]
    odd = look(lines)["script_targets"]
    assert odd.level == "warning" and "Han or Kana 2" in odd.title


def test_the_same_text_on_both_sides_is_untranslated(look) -> None:
    lines = clean()
    lines["train"][8] = "the cat reads.\tthe cat reads. "
    found = look(lines)["untranslated"]
    assert (found.level, found.number, found.cases[0].number) == ("note", 1, 9)
    lines["test"][:20] = [
        f"{line.split(chr(9))[0]}\t{line.split(chr(9))[0]}" for line in lines["test"][:20]
    ]
    assert look(lines)["untranslated"].level == "problem"


def swap(line: str) -> str:
    return "\t".join(reversed(line.split("\t")))


def test_a_split_whose_sides_are_swapped_is_found(look) -> None:
    lines = clean()
    lines["valid"] = [swap(line) for line in lines["valid"]]
    found = look(lines)
    assert found["swapped_valid"].level == "problem" and "swapped_test" not in found
    assert found["swapped_valid"].cases[0].texts["inputs"] == lines["valid"][0].split("\t")[0]


def test_a_stretch_of_training_that_is_swapped_is_found(look) -> None:
    lines = clean(count=1_000)
    lines["train"][630:756] = [swap(line) for line in lines["train"][630:756]]
    found = look(lines)["swapped_train"]
    assert found.level == "problem" and "look swapped" in found.title
    assert 600 < found.cases[0].number < 760


def test_sides_that_are_alike_are_not_called_swapped(look) -> None:
    lines = {
        split: ["\t".join([line.split("\t")[0]] * 2) for line in pairs]
        for split, pairs in clean().items()
    }
    assert look(lines)["swapped"].level == "ok"


def test_unknown_words_are_counted_and_shown(look) -> None:
    lines = clean()
    lines["test"][3] = "the zebra cat reads\tder Katze"
    found = look(lines, text=Words())
    unknown = found["unknown_inputs"]
    assert unknown.level == "note" and "train 0 %" in unknown.title and "0.1 %" in unknown.title
    assert [(c.split, c.number) for c in unknown.cases] == [("test", 4)]
    assert found["unknown_targets"].level == "ok"
    lines["test"][:60] = ["zebra lion\tder Katze"] * 60
    assert look(lines, text=Words())["unknown_inputs"].level == "problem"


def test_a_vocabulary_of_single_bytes_fits_badly(look) -> None:
    found = look(clean(), text=Subwords(size=259))
    assert found["fertility_inputs"].level == "warning" and found["fertility_inputs"].number > 4
    assert found["unknown_inputs"].level == "warning" and found["unknown_inputs"].number > 0.7
    assert "problem.text.size" in found["unknown_inputs"].advice


def test_bytes_are_never_unknown_and_fine_by_design(look) -> None:
    found = look(clean(count=100), text=Bytes())
    assert "unknown_inputs" not in found and found["fertility_inputs"].level == "ok"
    assert "1.00 a character, by bytes" in found["fertility_inputs"].title


def test_a_problem_without_a_source_is_looked_at_too(look) -> None:
    lines = clean()
    lines["train"].append(lines["train"][0])
    lines["train"].append(lines["test"][0])
    found = look(lines, source=False)
    assert found["duplicates"].number == 1 and "several_targets" not in found
    assert found["overlap_train_test"].title == "test examples that are in train too: 1 (0.8 %)"
    assert "length_ratio" not in found and found["script_targets"].level == "ok"


@pytest.mark.parametrize("text", [Subwords(size=700), Words()], ids=["lossless", "first"])
def test_at_most_so_many_texts_are_read(tmp_path, small, text) -> None:
    lines = clean(count=1_000)
    checkup = check_data("planted", ready(planted(lines, text=text), tmp_path), small, most=100)
    assert checkup.read == {"train": 100, "valid": 100, "test": 100}
    assert checkup.histograms["inputs"]["words"].count == 100
    assert checkup.histograms["inputs"]["tokens"].count == 1_000


def test_memory_does_not_grow_with_the_data(tmp_path, small, monkeypatch) -> None:
    monkeypatch.setattr(repeats, "MOST", 256)
    monkeypatch.setattr(repeats, "CHUNK", 256)
    peaks = []
    for count in (1_000, 6_000):
        lines = clean(count)
        prepared = ready(planted(lines, text=Bytes()), tmp_path)
        tracemalloc.start()
        check_data("planted", prepared, small, most=200)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]  # the data is six times as large


def test_symbols_by_a_rule_repeat_and_that_is_only_noted(tmp_path, small) -> None:
    problem = vary(
        problems.get("algorithmic_reverse_binary40")(),
        {"train_examples": 500, "valid_examples": 50, "test_examples": 50, "train_length": 8},
    )
    checkup = check_data("algorithmic", ready(problem, tmp_path), small)
    levels = {f.name: f.level for f in checkup.findings}
    assert levels["overlap_train_test"] == levels["duplicates"] == "note"
    assert "script_inputs" not in levels and checkup.read == {}
    assert list(checkup.histograms["inputs"]) == ["tokens"]


def test_the_demo_is_clean(tmp_path, small) -> None:
    few = {f"{split}_examples": 100 for split in ("valid", "test", "unseen", "coreference")}
    problem = vary(
        problems.get("translate_demo_en_fr")(),
        {"train_examples": 1_000, "text.size": 700, **few},
    )
    checkup = check_data("demo", ready(problem, tmp_path), small)
    assert {f.level for f in checkup.findings} == {"ok"}
    assert sum(checkup.read.values()) == 1_400


def test_hashes_tell_order_and_sides_apart(tmp_path) -> None:
    pairs = ["a b\tc", "b a\tc", "a\tb c", "a\tc b", "a b\tc"]
    prepared = ready(planted({"train": pairs}, text=Words()), tmp_path)
    train = prepared.split("train")
    hashes = repeats.hashed(train, repeats.evenly(len(train), 9))
    assert len(set(hashes.pairs.tolist())) == 4 and hashes.pairs[0] == hashes.pairs[4]
    assert hashes.sources[2] == hashes.sources[3] != hashes.sources[0]

"""What CTranslate2 loads of ours says what ours says."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
import torch

import heedful
from heedful.errors import UsageError
from heedful.interop import ctranslate2 as exporting
from heedful.interop.anatomy import CannotExport
from heedful.interop.export import export
from heedful.interop.parity import distance, log_probabilities, made_up
from heedful.text.subwords import Subwords

from .conftest import DECODE, Follow, Make

ctranslate2 = pytest.importorskip("ctranslate2")

TEXTS = ["I like it.", "  two  spaces ", "don't\tdo é ü 漢字 😀\n", "⟨eos⟩ <pad> ⟨start⟩", "aaaab"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("transformer_base", {}),
        ("transformer_multi30k", {}),
        ("transformer_demo", {"positions": "none", "heads": 1, "dim": 25}),
        ("transformer_demo", {"positions": "learned:30", "decoder_layers": 1}),
        ("transformer_demo", {"attention__kv_heads": 2, "heads": 8}),
        ("transformer_demo", {"attention__head_dim": 16}),
        ("transformer_demo", {"tie": "none"}),
        ("transformer_demo", {"sizes": (20, 35)}),
        ("transformer_base_paper", {}),
        ("transformer_base_paper", {"positions": "sinusoid_t2t", "heads": 16}),
        ("transformer_base_paper", {"tie": "targets", "layers": 1, "decoder_layers": 3}),
        ("transformer_base_paper", {"sizes": (35, 20), "tie": "none"}),
    ],
)
def test_log_probabilities_are_ours(name, changes, make: Make, tmp_path: Path) -> None:
    model, vocabularies = make(name, **changes)
    exporting.write(model, vocabularies, DECODE, tmp_path)
    pairs = made_up(model)
    theirs = exporting.log_probabilities(tmp_path, pairs, vocabularies)
    assert [len(one) for one in theirs] == [len(target) for _, target in pairs]
    assert distance(log_probabilities(model, pairs), theirs) < 1e-4


@pytest.mark.parametrize("quantize", ["int8", "float16"])
def test_quantised_it_is_smaller_and_near_and_ours_stays(quantize, make: Make, tmp_path) -> None:
    model, vocabularies = make("transformer_demo", dim=64)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    exporting.write(model, vocabularies, DECODE, _made(tmp_path / "whole"))
    exporting.write(model, vocabularies, DECODE, _made(tmp_path / "less"), quantize)
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("whole", "less")]
    assert sizes[1] < 0.6 * sizes[0]
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    pairs = made_up(model)
    theirs = exporting.log_probabilities(tmp_path / "less", pairs, vocabularies)
    assert 1e-4 < distance(log_probabilities(model, pairs), theirs) < 0.5


def test_translations_and_scores_are_ours_greedy_and_by_beam(
    learnt: Path, lines, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert export(learnt, "ctranslate2", out).difference < 1e-4
    ours = heedful.load(learnt, device="cpu")
    translator = ctranslate2.Translator(str(out))
    tokenizer = tokenizers.Tokenizer.from_file(str(out / "tokenizer.json"))
    sources = [tokenizer.encode(line).tokens for line in lines[1]]
    for beam in (1, 4):
        here = ours.decode(lines[1], replace(ours.config, beam=beam, alpha=0.0))
        found = translator.translate_batch(
            sources,
            beam_size=beam,
            length_penalty=0,
            min_decoding_length=0,
            return_scores=True,
        )
        there = [[tokenizer.token_to_id(token) for token in one.hypotheses[0]] for one in found]
        assert [tokenizer.decode(ids) for ids in there] == [line.text for line in here]
        for mine, one in zip(here, found, strict=True):
            assert one.scores[0] == pytest.approx(mine.score, abs=1e-4)
    assert len({line.text for line in here}) > 8


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram"])
def test_the_tokenizer_cuts_and_joins_as_ours(algorithm, make: Make, tmp_path: Path) -> None:
    ours = Subwords(algorithm=algorithm, size=530).train(["the cat likes the dog, it likes it"] * 4)
    model, _ = make("transformer_demo", sizes=(ours.size, ours.size))
    exporting.write(model, {"inputs": ours, "targets": ours}, DECODE, tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in TEXTS:
        assert theirs.encode(text).ids == ours.encode(text)
        assert theirs.decode(ours.encode(text)) == text


def test_the_page_beside_the_model_works(
    learnt: Path, lines, follow: Follow, tmp_path: Path
) -> None:
    export(learnt, "ctranslate2", tmp_path / "out")
    ours = heedful.load(learnt, device="cpu").translate(lines[1][:1])
    assert [follow(tmp_path / "out", lines[1][0])] == ours


def test_two_vocabularies_have_two_tokenizers(
    two_vocabularies: Path, lines, follow: Follow, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export(two_vocabularies, "ctranslate2", out)
    ours = heedful.load(two_vocabularies, device="cpu").translate(lines[1][:1])
    assert [follow(out, lines[1][0], length_penalty="0")] == ours
    assert (out / "target_tokenizer.json").exists()


def test_symbols_have_no_tokenizer_and_the_page_says_so(
    make: Make, follow: Follow, tmp_path: Path
) -> None:
    exporting.write(*make("transformer_demo"), DECODE, tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert not list(tmp_path.glob("*tokenizer*")) and "vocabulary is of symbols" in page
    assert follow(tmp_path).startswith("['")


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("transformer_demo", {"attention__turn": "rotary"}, "model.attention.turn=rotary"),
        ("transformer_demo", {"attention__bias": "bucket"}, "model.attention.bias=bucket"),
        ("transformer_lm_tiny", {}, "kind 'transformer_lm'"),
    ],
)
def test_what_has_no_layout_there_is_refused(name, changes, said, make: Make, tmp_path) -> None:
    model, vocabularies = make(name, **changes)
    with pytest.raises(CannotExport, match=said):
        exporting.write(model, vocabularies, DECODE, tmp_path)


def test_weights_that_would_be_left_behind_are_refused(make: Make, tmp_path) -> None:
    model, vocabularies = make("transformer_demo")
    model.body.encoder.more = torch.nn.Parameter(torch.zeros(3))
    with pytest.raises(CannotExport, match=r"'body\.encoder\.more' have no place"):
        exporting.write(model, vocabularies, DECODE, tmp_path)


def test_without_the_library_the_error_names_the_extra(make: Make, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(UsageError, match=r"pip install 'heedful\[ctranslate2\]'"):
        exporting.write(*make("transformer_demo"), DECODE, tmp_path)


def test_other_weights_are_refused_and_the_nearest_named(make: Make, tmp_path) -> None:
    with pytest.raises(UsageError, match=r"'in8'.* Close: int8"):
        exporting.write(*make("transformer_demo"), DECODE, tmp_path, "in8")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder

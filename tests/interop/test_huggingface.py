"""What Hugging Face's library loads of ours says what ours says."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import heedful
from heedful.data.batch import Batch, pad
from heedful.errors import UsageError
from heedful.interop import huggingface
from heedful.interop.anatomy import CannotExport
from heedful.interop.export import export
from heedful.interop.parity import Pair, made_up
from heedful.models.base import Model
from heedful.text.subwords import Subwords

from .conftest import DECODE, Follow, Make

transformers = pytest.importorskip("transformers")

TEXTS = [
    "I like it.",
    "  two  spaces ",
    "don't\tdo é ü 漢字 😀\n",
    "",
    "⟨eos⟩ <pad> ⟨start⟩",
    "aaaab",
]


def both_logits(model: Model, folder: Path, pairs: list[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ours and theirs for the real tokens of one ragged, padded batch."""
    source, target = pad([pair[0] for pair in pairs]), pad([pair[1] for pair in pairs])
    with huggingface.quiet(transformers):
        loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    start = torch.full((len(pairs), 1), loaded.config.decoder_start_token_id)
    with torch.no_grad():
        ours = model.logits(Batch({"inputs": source, "targets": target}))
        theirs = loaded(
            input_ids=source.ids,
            attention_mask=source.at.real.long(),
            decoder_input_ids=torch.cat([start, target.ids[:, :-1]], 1),
        ).logits
    return ours[target.at.real], theirs[target.at.real]


@pytest.mark.parametrize(
    ("name", "changes", "layout"),
    [
        ("transformer_base", {}, "BlenderbotForConditionalGeneration"),
        ("transformer_demo", {}, "BlenderbotForConditionalGeneration"),
        ("transformer_multi30k", {}, "BlenderbotForConditionalGeneration"),
        ("transformer_demo", {"positions": "none"}, "BlenderbotForConditionalGeneration"),
        ("transformer_demo", {"positions": "learned:30"}, "BlenderbotForConditionalGeneration"),
        ("transformer_demo", {"heads": 1, "dim": 25}, "BlenderbotForConditionalGeneration"),
        ("transformer_base_paper", {}, "MarianMTModel"),
        ("transformer_base_paper", {"heads": 1, "layers": 3, "decoder_layers": 1}, "MarianMTModel"),
        ("transformer_base_paper", {"heads": 16, "ff": 7}, "MarianMTModel"),
        ("transformer_base_paper", {"heads": 3, "dim": 27}, "MarianMTModel"),
        ("transformer_base_paper", {"attention__kv_heads": 2}, "MarianMTModel"),
        ("transformer_base_paper", {"tie": "none"}, "MarianMTModel"),
        ("transformer_base_paper", {"tie": "targets"}, "MarianMTModel"),
        ("transformer_base_paper", {"sizes": (20, 35)}, "MarianMTModel"),
        ("transformer_base_paper", {"sizes": (35, 20), "tie": "none"}, "MarianMTModel"),
    ],
)
def test_logits_are_ours(name, changes, layout, make: Make, tmp_path: Path) -> None:
    model, tokenizers = make(name, **changes)
    assert huggingface.write(model, tokenizers, DECODE, tmp_path) == layout
    ours, theirs = both_logits(model, tmp_path, made_up(model))
    assert ours.abs().max() > 1  # there is something to compare
    torch.testing.assert_close(theirs[:, :-1], ours, atol=1e-4, rtol=0)
    assert (theirs[:, -1] < -1e3).all()  # the further id is never said


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_norms_of_little_variance_add_our_epsilon(norm: str, make: Make, tmp_path: Path) -> None:
    """Where what is normed is as small as the epsilon, theirs must not be noticed."""
    positions = "none" if norm == "pre" else "sinusoid"
    model, tokenizers = make("transformer_demo", norm=norm, positions=positions)
    with torch.no_grad():
        for part, weight in model.named_parameters():
            if norm == "pre" and "norm" not in part:
                weight.mul_(0.01)  # all that is written into the stream
            if norm == "post" and ("norm" in part or "to_out" in part or "outer" in part):
                weight.mul_(0.003)
    huggingface.write(model, tokenizers, DECODE, tmp_path)
    ours, theirs = both_logits(model, tmp_path, made_up(model))
    unit = ours.abs().max()
    torch.testing.assert_close(theirs[:, :-1] / unit, ours / unit, atol=1e-4, rtol=0)


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram"])
def test_the_tokenizer_cuts_and_joins_as_ours(algorithm, make: Make, tmp_path: Path) -> None:
    corpus = ["the cat likes the dog, and I like it too"] * 4
    ours = Subwords(algorithm=algorithm, size=530).train(corpus)
    model, _ = make("transformer_demo", sizes=(ours.size, ours.size))
    huggingface.write(model, {"inputs": ours, "targets": ours}, DECODE, tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert len(theirs) == ours.size + 1
    for text in [*TEXTS, *corpus]:
        assert theirs(text)["input_ids"] == [*ours.encode(text), 1]
        assert theirs.decode(theirs(text)["input_ids"], skip_special_tokens=True) == text
    batch = theirs(TEXTS, padding=True)
    assert set(batch) == {"input_ids", "attention_mask"}
    assert {len(row) for row in batch["input_ids"]} == {max(map(len, batch["input_ids"]))}


def test_translations_are_ours_greedy_and_by_beam(learnt: Path, lines, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = export(learnt, "huggingface", out)
    assert made.difference < 1e-4
    ours = heedful.load(learnt, device="cpu")
    with huggingface.quiet(transformers):
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(out)
        tokenizer = transformers.AutoTokenizer.from_pretrained(out)
        batch = tokenizer(lines[1], return_tensors="pt", padding=True)
        for beam in (1, 4):
            here = ours.translate(lines[1], replace(ours.config, beam=beam, alpha=0.0))
            penalty = {"length_penalty": 0.0} if beam > 1 else {}
            ids = model.generate(**batch, num_beams=beam, **penalty)
            assert tokenizer.batch_decode(ids, skip_special_tokens=True) == here
    assert len(set(here)) > 8


def test_what_generate_does_by_itself_is_what_the_preset_says(make: Make, tmp_path: Path) -> None:
    model, tokenizers = make("transformer_demo")
    huggingface.write(model, tokenizers, replace(DECODE, beam=3, alpha=0.7), tmp_path)
    said = json.loads((tmp_path / "generation_config.json").read_text())
    assert (said["num_beams"], said["length_penalty"], said["max_length"]) == (3, 0.7, 51)
    loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path)
    with torch.no_grad():
        loaded.final_logits_bias[0, 0] = 1e4  # padding would be said, if it could be
        ids = loaded.generate(torch.tensor([[5, 6, 1]]))
    assert ids.shape == (1, 51) and (ids[0, 1:] != 0).all()


def test_saved_there_and_loaded_again_it_is_the_same(make: Make, tmp_path: Path) -> None:
    for name in ("transformer_base", "transformer_base_paper"):
        model, tokenizers = make(name)
        huggingface.write(model, tokenizers, DECODE, tmp_path / name)
        with huggingface.quiet(transformers):
            loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / name)
            loaded.save_pretrained(tmp_path / f"{name}-again")
        ours, theirs = both_logits(model, tmp_path / f"{name}-again", made_up(model))
        torch.testing.assert_close(theirs[:, :-1], ours, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("transformer_demo", {"attention__turn": "rotary"}, "model.attention.turn=rotary"),
        ("transformer_demo", {"attention__bias": "alibi"}, "model.attention.bias=alibi"),
        ("transformer_demo", {"attention__pattern": "near:4:4"}, "attention.pattern=near:4:4"),
        ("transformer_demo", {"attention__head_dim": 16}, "--to ctranslate2"),
        ("transformer_demo", {"tie": "targets"}, "--to ctranslate2"),
        ("transformer_demo", {"sizes": (20, 30)}, "two vocabularies"),
        ("transformer_base_paper", {"positions": "sinusoid_t2t"}, "positions=sinusoid_t2t"),
        ("transformer_lm_tiny", {}, "kind 'transformer_lm'"),
        ("transformer_encoder_tiny", {}, "kind 'transformer_encoder'"),
    ],
)
def test_what_has_no_layout_there_is_refused(name, changes, said, make: Make, tmp_path) -> None:
    model, tokenizers = make(name, **changes)
    with pytest.raises(CannotExport, match=said):
        huggingface.write(model, tokenizers, DECODE, tmp_path)
    assert not list(tmp_path.iterdir())


def test_without_the_library_the_error_names_the_extra(make: Make, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=r"pip install 'heedful\[huggingface\]'"):
        huggingface.write(*make("transformer_demo"), DECODE, tmp_path)


def test_the_page_beside_the_model_works(
    learnt: Path, lines, follow: Follow, tmp_path: Path
) -> None:
    export(learnt, "huggingface", tmp_path / "out")
    ours = heedful.load(learnt, device="cpu").translate(lines[1][:1])
    assert follow(tmp_path / "out", lines[1][0]) == str(ours)


def test_two_vocabularies_have_two_tokenizers(
    two_vocabularies: Path, lines, follow: Follow, tmp_path: Path
) -> None:
    export(two_vocabularies, "huggingface", tmp_path / "out")
    ours = heedful.load(two_vocabularies, device="cpu").translate(lines[1][:1])
    assert follow(tmp_path / "out", lines[1][0]) == str(ours)


def test_symbols_have_no_tokenizer_and_the_page_says_so(
    make: Make, follow: Follow, tmp_path: Path
) -> None:
    huggingface.write(*make("transformer_demo"), DECODE, tmp_path)
    page = (tmp_path / "README.md").read_text()
    assert not list(tmp_path.glob("*tokenizer*")) and "vocabulary is of symbols" in page
    assert follow(tmp_path).startswith("tensor([[30, ")

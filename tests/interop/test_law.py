"""The law that exported equals native holds, and a broken export is caught by it."""

import sys
from dataclasses import replace

import pytest
import torch

from heedful.interop import anatomy, ctranslate2, huggingface
from heedful.laws import LAWS, LawBroken, Subject

PACKAGES = {"huggingface": "transformers", "ctranslate2": "ctranslate2"}


@pytest.mark.parametrize("library", [huggingface, ctranslate2])
def test_a_model_that_is_not_ours_any_more_is_caught(library, monkeypatch) -> None:
    name = library.__name__.rpartition(".")[2]
    pytest.importorskip(PACKAGES[name])

    def dissect(model, positions):
        found = anatomy.dissect(model, positions)
        moved = replace(found.decoder, positions=found.decoder.positions.roll(1, 0))
        return replace(found, decoder=moved)

    monkeypatch.setattr(library, "dissect", dissect)
    with pytest.raises(LawBroken, match=f"exported to {name}, log-probabilities differ"):
        LAWS["exported_equals_native"](Subject("transformer_tiny"))


def test_a_nan_is_no_agreement(monkeypatch) -> None:
    pytest.importorskip("ctranslate2")
    monkeypatch.setitem(sys.modules, "transformers", None)
    said = ctranslate2.log_probabilities
    monkeypatch.setattr(
        ctranslate2, "log_probabilities", lambda *a: [x * torch.nan for x in said(*a)]
    )
    with pytest.raises(LawBroken, match="differ by up to inf"):
        LAWS["exported_equals_native"](Subject("transformer_tiny"))


def test_what_cannot_be_exported_is_not_held_to_it(monkeypatch) -> None:
    LAWS["exported_equals_native"](Subject("transformer_lm_tiny"))
    for package in PACKAGES.values():
        monkeypatch.setitem(sys.modules, package, None)
    LAWS["exported_equals_native"](Subject("transformer_tiny"))

"""A model that reads pictures or music from files is not served."""

import pytest

from heedful.decoding.translator import Translator
from heedful.errors import UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.serve.loading import Served
from heedful.text.performance import Performance
from heedful.text.pictures import Pictures
from heedful.text.words import Words


def test_no_request_can_name_a_file() -> None:
    tokenizers = {"inputs": Pictures(4, 4).train([]), "targets": Words().train(["a dog"])}
    config = presets.get("caption_attend_tiny")().model
    model = build(config, tokenizers, shared=False, loss=Smoothing())
    translator = Translator(model.eval(), tokenizers, Decode())
    with pytest.raises(UsageError, match="'photos' reads pictures from files, and a request must"):
        Served("photos", translator, "latest", "")
    Served("words", Translator(model, {"targets": tokenizers["targets"]}, Decode()), "latest", "")


def test_nor_one_of_music() -> None:
    notes = Performance().train([])
    config = presets.get("transformer_lm_tiny")().model
    model = build(config, {"targets": notes}, shared=False, loss=Smoothing())
    translator = Translator(model.eval(), {"targets": notes}, Decode())
    with pytest.raises(UsageError, match="'tunes' reads music from files, and a request must"):
        Served("tunes", translator, "latest", "")

"""A model that reads pictures from files is not served."""

import pytest

from heedful.decoding.translator import Translator
from heedful.errors import UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.serve.loading import Served
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

"""Small models with random weights to look into, and what they read and write."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from heedful.decoding.translator import Translator
from heedful.models.building import build
from heedful.models.transformer import (
    TransformerConfig,
    TransformerEncoderConfig,
    TransformerLMConfig,
)
from heedful.nn.attention import AttentionConfig
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.text.base import Text, Tokenizer
from heedful.text.chars import Characters
from heedful.text.subwords import Subwords

ENGLISH = "The cow ate the hay because it was delicious. The cow was hungry, wasn't it?"
CONFIGS = {
    "transformer": TransformerConfig,
    "transformer_encoder": TransformerEncoderConfig,
    "transformer_lm": TransformerLMConfig,
}

Make = Callable[..., Translator]


def tokenizer_of(text: Text) -> Tokenizer:
    return text.train([ENGLISH] * 5)


@pytest.fixture(scope="session")
def subwords() -> Tokenizer:
    return tokenizer_of(Subwords(size=275))


@pytest.fixture(scope="session")
def characters() -> Tokenizer:
    return tokenizer_of(Characters())


@pytest.fixture
def make(subwords: Tokenizer) -> Make:
    """`make(kind="transformer", tokenizer=…, decode=…, source=True, **numbers of the model)`"""

    def made(
        kind: str = "transformer",
        tokenizer: Tokenizer = subwords,
        decode: Decode = Decode(extra_length=4),
        source: bool = True,
        pool: str = "none",
        **numbers: Any,
    ) -> Translator:
        torch.manual_seed(3)
        numbers = {"dim": 16, "layers": 2, "heads": 2, "ff": 32, "dropout": 0.0, **numbers}
        config = CONFIGS[kind](**numbers, attention=AttentionConfig(pool=pool))
        tokenizers = {"targets": tokenizer} | ({"inputs": tokenizer} if source else {})
        sizes = dict.fromkeys(tokenizers, tokenizer.size)
        model = build(config, sizes, shared=source, loss=Smoothing())
        with torch.no_grad():  # sharper than first weights are, so that weights differ
            for parameter in model.parameters():
                parameter.mul_(2.0)
        return Translator(model.eval(), tokenizers, decode)

    return made

"""From a config to a model: a body, and for each feature what stands between it and its ids."""

from collections.abc import Mapping

from heedful.errors import UsageError
from heedful.modalities.symbols import Embedding, Head
from heedful.models.base import (
    Decodes,
    EncoderDecoder,
    Encodes,
    LanguageModel,
    Model,
    ModelConfig,
    Tagger,
)
from heedful.nn.losses import Smoothing
from heedful.registry import models
from heedful.text.base import Tokenizer

Vocabulary = Tokenizer | int  # the vocabulary, or only how many ids it has


def build(
    config: ModelConfig, vocabularies: Mapping[str, Vocabulary], shared: bool, loss: Smoothing
) -> Model:
    """The model a config describes, for features of these vocabularies.

    `shared` says that inputs and targets use one vocabulary.
    """
    body = models.get(config.kind)(config)
    sizes = {name: of if isinstance(of, int) else of.size for name, of in vocabularies.items()}
    targets = Embedding(sizes["targets"], config.dim)
    inputs: Embedding | None = None
    if "inputs" in sizes:
        one = shared and config.tie == "all"
        inputs = targets if one else Embedding(sizes["inputs"], config.dim)
    tied = config.tie != "none"
    head = Head(targets if tied else Embedding(sizes["targets"], config.dim), loss)
    encodes, decodes = isinstance(body, Encodes), isinstance(body, Decodes)
    if encodes and inputs is None:
        raise UsageError(
            f"model '{config.kind}' reads a source, and this problem has none. "
            "Use a decoder alone, such as transformer_lm"
        )
    kind = EncoderDecoder if encodes and decodes else LanguageModel if decodes else Tagger
    model = kind(config, body, inputs, targets, head)
    model.longest = getattr(body, "longest", None)
    return model

"""From a config to a model: a body, and for each feature what stands between it and its ids."""

from collections.abc import Mapping

from heedful.errors import UsageError
from heedful.modalities.heads import head_for
from heedful.modalities.spelling import Table
from heedful.modalities.symbols import Embedding
from heedful.models.base import (
    Decodes,
    EncoderDecoder,
    Encodes,
    LanguageModel,
    Model,
    ModelConfig,
    Tagger,
)
from heedful.models.captioner import captioner
from heedful.models.classifier import SumsUp, SumsUpTwo, classifier
from heedful.nn.losses import Objective, Smoothing
from heedful.registry import models
from heedful.text.base import Tokenizer
from heedful.text.pictures import PictureTokenizer

Vocabulary = Tokenizer | int  # the vocabulary, or only how many ids it has


def build(
    config: ModelConfig, vocabularies: Mapping[str, Vocabulary], shared: bool, loss: Objective
) -> Model:
    """The model a config describes, for features of these vocabularies.

    `shared` says that inputs and targets use one vocabulary.
    """
    body = models.get(config.kind)(config)
    if isinstance(body, SumsUp | SumsUpTwo):
        return classifier(config, body, vocabularies, _whole(loss))
    if isinstance(vocabularies.get("inputs"), PictureTokenizer):
        return captioner(config, body, vocabularies, _whole(loss))
    sizes = {name: of if isinstance(of, int) else of.size for name, of in vocabularies.items()}
    targets = config.words.build(vocabularies["targets"], config.dim)
    inputs: Embedding | None = None
    if "inputs" in sizes:
        one = shared and config.tie == "all"
        inputs = targets if one else config.words.build(vocabularies["inputs"], config.dim)
    tied = config.tie != "none" and isinstance(config.words, Table)
    table = targets if tied else Embedding(sizes["targets"], config.dim)
    head = head_for(loss, table, getattr(vocabularies["targets"], "counts", None))
    encodes, decodes = isinstance(body, Encodes), isinstance(body, Decodes)
    if encodes and inputs is None:
        raise UsageError(
            f"model '{config.kind}' reads a source, and this problem has none. "
            "Use a decoder alone, such as transformer_lm"
        )
    kind = EncoderDecoder if encodes and decodes else LanguageModel if decodes else Tagger
    kind = getattr(body, "joined", kind)  # a body may bring the model that it is part of
    model = kind(config, body, inputs, targets, head)
    model.longest = getattr(body, "longest", None)
    return model


def _whole(loss: Objective) -> Smoothing:
    """The loss, for what always learns by the whole softmax."""
    if isinstance(loss, Smoothing):
        return loss
    raise UsageError(f"this model learns by loss=smoothing, not by loss={loss.kind}")

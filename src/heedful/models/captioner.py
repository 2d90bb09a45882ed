"""A model that reads a picture and writes a text. B batch, L length."""

from collections.abc import Mapping

from torch import nn

from heedful.data.batch import Rows
from heedful.errors import UsageError
from heedful.modalities.pictures import Cells, CellsConfig
from heedful.modalities.spelling import Table
from heedful.modalities.symbols import Embedding, Head
from heedful.models.base import Decodes, EncoderDecoder, Encodes, ModelConfig
from heedful.nn.attention import Encoded
from heedful.nn.losses import Smoothing
from heedful.text.base import Tokenizer
from heedful.text.pictures import PictureTokenizer


class Captioner(EncoderDecoder):
    """Reads a picture, cell by cell, writes a text about it: any encoder and decoder can."""

    def __init__(
        self, config: ModelConfig, body: nn.Module, cells: Cells, targets: Embedding, head: Head
    ) -> None:
        super().__init__(config, body, None, targets, head)
        self.cells = cells

    def encode(self, source: Rows) -> Encoded:
        return self.body.encode(*self.cells(source.ids, source.at))


def captioner(
    config: ModelConfig,
    body: nn.Module,
    vocabularies: Mapping[str, Tokenizer | int],
    loss: Smoothing,
) -> Captioner:
    """The model for features of these vocabularies, of which the inputs are pictures.

    Cells are cut as the config's `cells` says, where it has such a field.
    """
    if not (isinstance(body, Encodes) and isinstance(body, Decodes)):
        raise UsageError(
            f"model '{config.kind}' cannot read pictures: that takes an encoder and a decoder. "
            "Use one such as caption_attend or transformer"
        )
    pictures, words = vocabularies["inputs"], vocabularies["targets"]
    assert isinstance(pictures, PictureTokenizer)
    size = words if isinstance(words, int) else words.size
    targets = config.words.build(words, config.dim)
    tied = config.tie != "none" and isinstance(config.words, Table)
    head = Head(targets if tied else Embedding(size, config.dim), loss)
    cells = Cells(pictures, getattr(config, "cells", CellsConfig()), config.dim)
    model = Captioner(config, body, cells, targets, head)
    model.longest = getattr(body, "longest", None)
    return model

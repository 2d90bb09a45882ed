"""The Transformer's encoder as a classifier: a text read, summed up, and labelled.

Devlin, Chang, Lee and Toutanova, "BERT", NAACL 2019, https://arxiv.org/abs/1810.04805, section 3.2:
the summary is one token's vector, through one layer of tanh. Departs from the paper: any summary
can be taken; `first` is that of the text's own first token, as none is put before it.
B batch, L length, D model.
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.models.transformer import Stack, TransformerConfig
from heedful.nn.attention import Encoded
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.patterns import Full
from heedful.nn.summaries import Pooling, summary
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class TransformerClassifierConfig(TransformerConfig, kind="transformer_classifier"):
    """An encoder with the Transformer's numbers, and how its vectors are summed up."""

    summary: Pooling = "mean"


@models.register("transformer_classifier")
class TransformerClassifier(nn.Module):
    """The Transformer's encoder, summed up: one label for each text read.

    Two texts are read as one, with the end symbol between them.
    """

    def __init__(self, config: TransformerClassifierConfig) -> None:
        super().__init__()
        self.width = config.dim
        self.dropout = config.dropout
        self.encoder = Stack(config, config.layers, Full(), reads=False)
        self.pooling = summary(config.summary, config.dim)
        self.outer = linear(config.dim, config.dim)
        self.longest = self.encoder.positions.longest
        # What it can take over from a run of another model, by the names of weights.
        same = {"body.encoder.": "body.encoder.", "inputs.": "inputs."}
        decoder = {"body.encoder.": "body.decoder.", "inputs.": "targets."}
        self.borrows = {"transformer_encoder": same, "transformer_lm": decoder}

    def encode(self, x: Float[Tensor, "B L D"], at: Layout) -> Encoded:
        if not x.shape[1]:  # a text without a token
            return Encoded(x, at)
        return Encoded(self.encoder(x, at), at)

    def summary(self, encoded: Encoded, of: Layout) -> Float[Tensor, "B T D"]:
        x = self.pooling(encoded.x, encoded.at, of)
        return F.dropout(self.outer(x).tanh(), self.dropout, self.training)

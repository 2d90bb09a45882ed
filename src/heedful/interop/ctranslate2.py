"""A Transformer as a CTranslate2 model: fast inference on CPUs and GPUs, quantised where asked.

Its layout has all that ours has: norms before or after with an epsilon to choose, linear layers
without bias, any table of positions, a decoder that begins with zeros, several embeddings.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.interop.anatomy import Affine, Anatomy, AttentionWeights, StackWeights, dissect
from heedful.interop.library import installed
from heedful.interop.pages import ctranslate2_page
from heedful.interop.parity import Pair
from heedful.interop.tokenizer import names, portable
from heedful.models.base import Model
from heedful.nn.blocks import EPSILON
from heedful.presets.base import Decode
from heedful.text.base import Tokenizer
from heedful.text.specials import EOS, PAD, RESERVED, UNK
from heedful.text.subwords import SPECIAL, SubwordTokenizer

QUANTIZED = (
    "int8",
    "int8_float32",
    "int8_float16",
    "int8_bfloat16",
    "int16",
    "float16",
    "bfloat16",
)
SOURCES, TARGETS = "tokenizer.json", "target_tokenizer.json"


def library() -> Any:
    return installed("ctranslate2", "ctranslate2")


def write(
    model: Model,
    tokenizers: Mapping[str, Tokenizer],
    decode: Decode,
    folder: Path,
    quantize: str | None = None,
) -> str:
    """Fill a folder with the model, its tokenizers and a page; the name of the library's layout."""
    if quantize is not None and quantize not in QUANTIZED:
        raise UsageError(
            f"no weights of kind '{quantize}'.{nearest(quantize, QUANTIZED)} "
            f"There are: {', '.join(QUANTIZED)}"
        )
    anatomy = dissect(model, decode.longest_input + decode.extra_length + 1)
    spec = _spec(library(), anatomy)
    inputs, targets = tokenizers["inputs"], tokenizers["targets"]
    spec.register_source_vocabulary(names(inputs))
    spec.register_target_vocabulary(names(targets))
    spec.config.unk_token = SPECIAL[UNK]
    spec.config.bos_token = spec.config.decoder_start_token = SPECIAL[PAD]
    spec.config.eos_token = SPECIAL[EOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = EPSILON
    spec.validate()
    spec.optimize(quantization=quantize)
    spec.save(str(folder))
    files = {SOURCES: inputs} if inputs is targets else {SOURCES: inputs, TARGETS: targets}
    for file, tokenizer in files.items():
        if isinstance(tokenizer, SubwordTokenizer):
            content = json.dumps(portable(tokenizer), ensure_ascii=False)
            (folder / file).write_text(content, encoding="utf-8")
    page = ctranslate2_page(decode, tokenizers, TARGETS, names(inputs)[RESERVED:][:2])
    (folder / "README.md").write_text(page, encoding="utf-8")
    return "TransformerSpec"


def log_probabilities(
    folder: Path, pairs: Sequence[Pair], tokenizers: Mapping[str, Tokenizer]
) -> list[Tensor]:
    """What the library says of each target's tokens after its source, both with their ends."""
    with quiet(library()) as theirs:
        translator = theirs.Translator(str(folder), compute_type="default")
    of_inputs, of_targets = names(tokenizers["inputs"]), names(tokenizers["targets"])
    found = translator.score_batch(
        [[of_inputs[i] for i in source[:-1]] for source, _ in pairs],
        [[of_targets[i] for i in target[:-1]] for _, target in pairs],
    )
    return [torch.tensor(one.log_probs) for one in found]


@contextmanager
def quiet(theirs: Any) -> Iterator[Any]:
    """While open, the library says only what went wrong: not that a CPU has no half precision."""
    before = theirs.get_log_level()
    theirs.set_log_level(logging.ERROR)
    try:
        yield theirs
    finally:
        theirs.set_log_level(before)


def _spec(theirs: Any, anatomy: Anatomy) -> Any:
    c = anatomy.config
    common: dict[str, Any] = {"num_heads": c.heads, "pre_norm": c.norm == "pre"}
    if anatomy.width * c.heads != c.dim:
        common["head_dim"] = anatomy.width
    specs = theirs.specs.transformer_spec
    encoder = specs.TransformerEncoderSpec(len(anatomy.encoder.layers), **common)
    decoder = specs.TransformerDecoderSpec(len(anatomy.decoder.layers), **common)
    encoder.embeddings[0].weight = anatomy.inputs.numpy()
    decoder.embeddings.weight = anatomy.targets.numpy()
    decoder.projection.weight = anatomy.head.numpy()
    decoder.start_from_zero_embedding = True
    _fill(encoder, anatomy.encoder)
    _fill(decoder, anatomy.decoder)
    return specs.TransformerSpec(encoder, decoder)


def _fill(spec: Any, stack: StackWeights) -> None:
    spec.position_encodings.encodings = stack.positions.numpy()
    if stack.norm is not None:
        _norm(spec.layer_norm, stack.norm)
    for there, layer in zip(spec.layer, stack.layers, strict=True):
        _attention(there.self_attention, layer.attention, fused=True)
        if layer.reading is not None:
            _attention(there.attention, layer.reading, fused=False)
        _linear(there.ffn.linear_0, layer.inner)
        _linear(there.ffn.linear_1, layer.outer)
        _norm(there.ffn.layer_norm, layer.norm)


def _attention(spec: Any, of: AttentionWeights, fused: bool) -> None:
    """Oneself: queries, keys and values in one matrix. A source: keys and values in one."""
    parts = [[of.q, of.k, of.v]] if fused else [[of.q], [of.k, of.v]]
    for linear, weights in zip(spec.linear, [*parts, [of.out]], strict=True):
        linear.weight = torch.cat(weights).numpy()
    _norm(spec.layer_norm, of.norm)


def _linear(spec: Any, of: Affine) -> None:
    spec.weight, spec.bias = of.weight.numpy(), of.bias.numpy()


def _norm(spec: Any, of: Affine) -> None:
    spec.gamma, spec.beta = of.weight.numpy(), of.bias.numpy()

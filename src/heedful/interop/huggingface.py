"""A Transformer in a layout of Hugging Face's `transformers`, loaded there as it is.

Norms after: Marian's. Norms before: Blenderbot's, whose positions are a table. Both have biases
where ours have none (zeros are written), and norms that add 1e-5 (see equivalents.py). Both begin
decoding with the vector of a symbol; ours with zeros: a further id, the last of the vocabulary, has
zeros for its vector and is never said.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.data.batch import pad
from heedful.errors import UsageError
from heedful.interop.anatomy import (
    Affine,
    Anatomy,
    AttentionWeights,
    CannotExport,
    StackWeights,
    dissect,
)
from heedful.interop.equivalents import in_halves, with_epsilon
from heedful.interop.library import installed
from heedful.interop.pages import huggingface_page
from heedful.interop.parity import Pair
from heedful.interop.tokenizer import marked
from heedful.models.base import Model
from heedful.nn.blocks import EPSILON
from heedful.presets.base import Decode
from heedful.text.base import Tokenizer
from heedful.text.specials import EOS, PAD, UNK
from heedful.text.subwords import SPECIAL, SubwordTokenizer

THEIR_EPSILON = 1e-5  # torch's default, which their layers do not let one choose
NEVER_SAID = -1e4  # added to the score of the further id; half precision has it too
LONGEST_OUTPUT = 512
TARGETS = "target_tokenizer"  # a folder
HOW = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "pad_token": SPECIAL[PAD],
    "eos_token": SPECIAL[EOS],
    "unk_token": SPECIAL[UNK],
    "model_input_names": ["input_ids", "attention_mask"],
    "split_special_tokens": True,  # what a user types is text, whatever it looks like
    "clean_up_tokenization_spaces": False,
}


def library() -> Any:
    return installed("transformers", "huggingface")


def write(
    model: Model,
    tokenizers: Mapping[str, Tokenizer],
    decode: Decode,
    folder: Path,
    quantize: str | None = None,
) -> str:
    """Fill a folder with the model, its tokenizers and a page; the name of the library's class."""
    if quantize is not None:
        raise UsageError(
            f"--quantize {quantize} is for ctranslate2. What is exported to huggingface is "
            "float32, and quantised there when it is loaded"
        )
    anatomy = dissect(model, decode.longest_input + decode.extra_length + 1)
    _refuse_what_it_has_not(anatomy)
    theirs = library()
    if anatomy.config.norm == "post":
        adapted = with_epsilon(in_halves(anatomy), EPSILON, THEIR_EPSILON, begin=1.0)
        layout, name = theirs.MarianConfig, "MarianMTModel"
    else:
        scale = (THEIR_EPSILON / EPSILON) ** 0.5
        adapted = with_epsilon(anatomy, EPSILON, THEIR_EPSILON, begin=scale)
        layout, name = theirs.BlenderbotConfig, "BlenderbotForConditionalGeneration"
    with quiet(theirs):
        written = getattr(theirs, name)(layout(**_numbers(anatomy)))
        written.load_state_dict(_state(adapted, written.state_dict()))
        written.generation_config = theirs.GenerationConfig(**_generation(anatomy, decode))
        written.save_pretrained(folder)
    _write_tokenizers(tokenizers, folder, len(anatomy.encoder.positions))
    page = huggingface_page(name, tokenizers, TARGETS)
    (folder / "README.md").write_text(page, encoding="utf-8")
    return name


def log_probabilities(
    folder: Path, pairs: Sequence[Pair], tokenizers: Mapping[str, Tokenizer]
) -> list[Tensor]:
    """What the library says of each target's tokens after its source, in one padded batch."""
    theirs = library()
    with quiet(theirs):
        model = theirs.AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True)
    start = model.config.decoder_start_token_id
    source = pad([source for source, _ in pairs])
    given = pad([(start, *target[:-1]) for _, target in pairs])
    with torch.no_grad():
        logits = model(
            input_ids=source.ids,
            attention_mask=source.at.real.long(),
            decoder_input_ids=given.ids,
        ).logits
    said = F.log_softmax(logits.float(), -1)
    return [
        row[: len(target)].gather(1, torch.tensor(target)[:, None])[:, 0]
        for row, (_, target) in zip(said, pairs, strict=True)
    ]


@contextmanager
def quiet(theirs: Any) -> Iterator[None]:
    """While open, the library draws no bars and says only what went wrong."""
    logging = theirs.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def _refuse_what_it_has_not(anatomy: Anatomy) -> None:
    c = anatomy.config
    if anatomy.width * c.heads != c.dim:
        raise CannotExport(
            f"model.attention.head_dim={anatomy.width} with {c.heads} heads is not model.dim="
            f"{c.dim}, and huggingface has no layout for that. Export --to ctranslate2"
        )
    if c.norm == "post" and c.positions != "sinusoid":
        raise CannotExport(
            f"model.positions={c.positions} with model.norm=post has no layout in huggingface: "
            "Marian's has positions=sinusoid. Export --to ctranslate2"
        )
    if c.norm == "pre" and not anatomy.one_embedding:
        raise CannotExport(
            "a model with norms before and several embeddings (two vocabularies, or "
            f"model.tie={c.tie}) has no layout in huggingface: Blenderbot's has one for source, "
            "target and softmax. Export --to ctranslate2"
        )


def _numbers(anatomy: Anatomy) -> dict[str, Any]:
    """The fields of their config, which both layouts call the same."""
    c, start = anatomy.config, len(anatomy.targets)
    numbers = {
        "vocab_size": start + 1,
        "d_model": c.dim,
        "encoder_layers": len(anatomy.encoder.layers),
        "decoder_layers": len(anatomy.decoder.layers),
        "encoder_attention_heads": c.heads,
        "decoder_attention_heads": c.heads,
        "encoder_ffn_dim": c.ff,
        "decoder_ffn_dim": c.ff,
        "activation_function": "relu",
        "dropout": c.dropout,
        "attention_dropout": c.attention_dropout,
        "activation_dropout": c.relu_dropout,
        "max_position_embeddings": len(anatomy.encoder.positions),
        "scale_embedding": True,
        "pad_token_id": PAD,
        "eos_token_id": EOS,
        "bos_token_id": None,
        "decoder_start_token_id": start,
        "forced_eos_token_id": None,
        "tie_word_embeddings": anatomy.head is anatomy.targets,
    }
    if c.norm == "post" and not anatomy.one_embedding:
        numbers |= {
            "vocab_size": len(anatomy.inputs),
            "decoder_vocab_size": start + 1,
            "share_encoder_decoder_embeddings": False,
        }
    if c.norm == "pre":
        numbers["encoder_no_repeat_ngram_size"] = 0
    return numbers


def _generation(anatomy: Anatomy, decode: Decode) -> dict[str, Any]:
    """How `generate` searches. Its penalty is length ** alpha: not ours, but the nearest to it."""
    penalty = {"length_penalty": decode.alpha} if decode.beam > 1 else {}
    return {
        "num_beams": decode.beam,
        **penalty,
        "max_length": min(LONGEST_OUTPUT, len(anatomy.decoder.positions)),
        "suppress_tokens": [PAD],
        "pad_token_id": PAD,
        "eos_token_id": EOS,
        "decoder_start_token_id": len(anatomy.targets),
    }


def _state(anatomy: Anatomy, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under their names; what they make themselves stays as it is."""
    one = anatomy.one_embedding
    bias = torch.zeros(1, len(anatomy.targets) + 1)
    bias[0, -1] = NEVER_SAID
    named = {
        "final_logits_bias": bias,
        "lm_head.weight": _with_start(anatomy.head),
        "model.decoder.embed_tokens.weight": _with_start(anatomy.targets),
        "model.encoder.embed_tokens.weight": _with_start(anatomy.inputs) if one else anatomy.inputs,
    }
    if one:
        named["model.shared.weight"] = _with_start(anatomy.targets)
    stacks = {"model.encoder": anatomy.encoder, "model.decoder": anatomy.decoder}
    for place, stack in stacks.items():
        named |= _stack(place, stack)
        table = f"{place}.embed_positions.weight"
        named[table] = wanted[table] if anatomy.config.norm == "post" else stack.positions
    return named


def _with_start(embedding: Tensor) -> Tensor:
    return torch.cat([embedding, embedding.new_zeros(1, embedding.shape[1])])


def _stack(place: str, stack: StackWeights) -> dict[str, Tensor]:
    named: dict[str, Tensor] = {}

    def affine(name: str, of: Affine) -> None:
        named.update({f"{name}.weight": of.weight, f"{name}.bias": of.bias})

    def attention(name: str, of: AttentionWeights) -> None:
        parts = {"q_proj": of.q, "k_proj": of.k, "v_proj": of.v, "out_proj": of.out}
        for part, weight in parts.items():
            affine(f"{name}.{part}", Affine(weight, weight.new_zeros(len(weight))))
        affine(f"{name}_layer_norm", of.norm)

    for number, layer in enumerate(stack.layers):
        at = f"{place}.layers.{number}"
        attention(f"{at}.self_attn", layer.attention)
        if layer.reading is not None:
            attention(f"{at}.encoder_attn", layer.reading)
        affine(f"{at}.fc1", layer.inner)
        affine(f"{at}.fc2", layer.outer)
        affine(f"{at}.final_layer_norm", layer.norm)
    if stack.norm is not None:
        affine(f"{place}.layer_norm", stack.norm)
    return named


def _write_tokenizers(tokenizers: Mapping[str, Tokenizer], folder: Path, longest: int) -> None:
    """Beside the model what reads sources; where targets have a vocabulary of their own, below."""
    inputs, targets = tokenizers["inputs"], tokenizers["targets"]
    places = {folder: inputs} if inputs is targets else {folder: inputs, folder / TARGETS: targets}
    for place, tokenizer in places.items():
        if not isinstance(tokenizer, SubwordTokenizer):
            continue
        place.mkdir(exist_ok=True)
        content = marked(tokenizer, start=tokenizer is targets)
        how = {**HOW, "model_max_length": longest}
        for name, said in {"tokenizer.json": content, "tokenizer_config.json": how}.items():
            text = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
            (place / name).write_text(text, encoding="utf-8")

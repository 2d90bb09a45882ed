"""A Transformer's weights by what they do, whichever library they are to be written for.

D model, H heads, E per head, F feed-forward, V vocabulary, P positions.
"""

from dataclasses import MISSING, dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from heedful.errors import HeedfulError
from heedful.models.base import EncoderDecoder, Model
from heedful.models.transformer import Stack, Transformer, TransformerConfig
from heedful.nn.attention import Attention, AttentionConfig
from heedful.nn.blocks import Block, Residual
from heedful.nn.layout import line

EXACT = ("auto", "dense", "fused", "blocks")  # kernels that compute one and the same
READ = {
    "dim",
    "tie",
    "layers",
    "decoder_layers",
    "heads",
    "ff",
    "norm",
    "positions",
    "dropout",
    "attention_dropout",
    "relu_dropout",
    "attention",
}


class CannotExport(HeedfulError):
    """A model that the library asked for has no layout for."""


@dataclass(frozen=True)
class Affine:
    """A weight and a bias: of a norm, or of a linear layer."""

    weight: Tensor
    bias: Tensor


@dataclass(frozen=True)
class AttentionWeights:
    """What queries, keys, values and output are multiplied by, and the norm of the part."""

    q: Tensor  # [H E, D]
    k: Tensor  # [H E, D]
    v: Tensor  # [H E, D]
    out: Tensor  # [D, H E]
    norm: Affine


@dataclass(frozen=True)
class LayerWeights:
    """One layer: attention, reading in a decoder, feed-forward with its norm."""

    attention: AttentionWeights
    reading: AttentionWeights | None
    inner: Affine  # [F, D]
    outer: Affine  # [D, F]
    norm: Affine


@dataclass(frozen=True)
class StackWeights:
    """An encoder or a decoder."""

    positions: Tensor  # [P, D]
    layers: tuple[LayerWeights, ...]
    norm: Affine | None  # the last, where norms come before


@dataclass(frozen=True)
class Anatomy:
    """Everything that an encoder-decoder computes with. Tensors that are one are the same."""

    config: TransformerConfig
    width: int  # E
    encoder: StackWeights
    decoder: StackWeights
    inputs: Tensor  # [V, D]; multiplied by √D when looked up
    targets: Tensor  # [V, D]; likewise
    head: Tensor  # [V, D]; as it is

    @property
    def one_embedding(self) -> bool:
        """Whether source, target and softmax have one matrix."""
        return self.inputs is self.targets is self.head


def dissect(model: Model, positions: int) -> Anatomy:
    """The weights of a model, or an error that says what no other library has a place for.

    `positions` is how many are written where ours have no end.
    """
    config = model.config
    if not isinstance(model, EncoderDecoder) or type(model.body) is not Transformer:
        raise CannotExport(
            f"a model of kind '{config.kind}' cannot be exported: what can is the encoder-decoder "
            "'transformer'"
        )
    if model.inputs is None:
        raise CannotExport("a model that reads pictures cannot be exported")
    assert isinstance(config, TransformerConfig)
    _refuse_what_is_only_ours(config)
    count = model.longest or positions
    taken = Taken(model)
    embeddings = [taken.one(e.weight) for e in (model.inputs, model.targets, model.head.embedding)]
    anatomy = Anatomy(
        config,
        config.attention.head_dim or config.dim // config.heads,
        _stack(taken, model.body.encoder, count),
        _stack(taken, model.body.decoder, count),
        *embeddings,
    )
    taken.all()
    return anatomy


class Taken:
    """A model's parameters, and which of them have found a place."""

    def __init__(self, model: nn.Module) -> None:
        self.left: dict[Tensor, str] = {weight: name for name, weight in model.named_parameters()}
        self.found: dict[Tensor, Tensor] = {}

    def one(self, parameter: Tensor) -> Tensor:
        """A copy as float32 on the CPU; a parameter that is used twice is one tensor."""
        if self.left.pop(parameter, None) is not None:
            self.found[parameter] = parameter.detach().to("cpu", torch.float32, copy=True)
        return self.found[parameter]

    def affine(self, part: nn.Module) -> Affine:
        return Affine(self.one(part.weight), self.one(part.bias))  # type: ignore[arg-type]

    def all(self) -> None:
        """Nothing may be left behind."""
        if self.left:
            raise CannotExport(
                f"the weights '{next(iter(self.left.values()))}' have no place in an exported model"
            )


def _stack(taken: Taken, stack: Stack, count: int) -> StackWeights:
    for parameter in stack.positions.parameters():
        taken.one(parameter)
    at = line(count, device=next(stack.parameters()).device)
    with torch.no_grad():
        table = stack.positions(at)[0].to("cpu", torch.float32)
    last = stack.norm if isinstance(stack.norm, nn.LayerNorm) else None
    return StackWeights(
        table,
        tuple(_layer(taken, layer) for layer in stack.layers),
        None if last is None else taken.affine(last),
    )


def _layer(taken: Taken, layer: nn.Module) -> LayerWeights:
    assert isinstance(layer, Block)
    reading = layer.reading
    return LayerWeights(
        _attention(taken, layer.attention, layer.attention_residual),
        None if reading is None else _attention(taken, reading, layer.reading_residual),
        taken.affine(layer.feed_forward.inner),
        taken.affine(layer.feed_forward.outer),
        taken.affine(layer.feed_forward_residual.norm),
    )


def _attention(taken: Taken, attention: Attention, residual: Residual | None) -> AttentionWeights:
    assert residual is not None
    if attention.to_qkv is not None:
        q, k, v = taken.one(attention.to_qkv.weight).chunk(3)
    else:
        assert attention.to_q is not None and attention.to_kv is not None
        q = taken.one(attention.to_q.weight)
        k, v = (_lent(x, attention) for x in taken.one(attention.to_kv.weight).chunk(2))
    return AttentionWeights(
        q, k, v, taken.one(attention.to_out.weight), taken.affine(residual.norm)
    )


def _lent(x: Tensor, attention: Attention) -> Tensor:
    """Keys or values of few heads, written out for each head that they are lent to."""
    each = x.unflatten(0, (attention.kv_heads, attention.width))
    return each.repeat_interleave(attention.heads // attention.kv_heads, 0).flatten(0, 1)


def _refuse_what_is_only_ours(config: TransformerConfig) -> None:
    """Every setting is one that is read here, or is at its default."""
    wanted: dict[str, tuple[Any, Any]] = {}
    for field in fields(TransformerConfig):
        if field.name not in READ:
            made = field.default_factory
            usually = field.default if made is MISSING else made()
            wanted[field.name] = getattr(config, field.name), usually
    usual = AttentionConfig()
    for field in fields(AttentionConfig):
        given = getattr(config.attention, field.name)
        if (field.name == "kernel" and given in EXACT) or field.name in ("head_dim", "kv_heads"):
            continue
        wanted[f"attention.{field.name}"] = given, getattr(usual, field.name)
    for name, (given, usually) in wanted.items():
        if given != usually:
            raise CannotExport(
                f"model.{name}={given} is not known outside heedful, so this model cannot be "
                f"exported: what can is a Transformer with model.{name}={usually}"
            )

"""Beginning from another run's weights: fine-tuning, also with another vocabulary."""

from pathlib import Path

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.models.base import Model
from heedful.runs.loading import load_model
from heedful.runs.weights import weights
from heedful.text.base import Tokenizer
from heedful.text.specials import RESERVED
from heedful.text.tagged import Addressed


@torch.no_grad()
def begin_from(path: Path, model: Model, tokenizers: dict[str, Tokenizer]) -> str:
    """Give `model` the weights of the run at `path`; what was done, for a person.

    Everything but embeddings must have the same shape. An embedding of another vocabulary is made
    from the other's: a piece both have keeps its vector, a new one begins as the mean of the pieces
    that it is cut into there, and the tag of a new language as the mean of the other tags, or of
    all pieces where there are none.
    """
    base = load_model(path)
    theirs, own = weights(base.model), weights(model)
    mapped = 0
    for name, tensor in own.items():
        feature = _feature(name)
        if name not in theirs or (feature is None and theirs[name].shape != tensor.shape):
            there = list(theirs[name].shape) if name in theirs else "not there"
            raise UsageError(
                f"cannot begin from {path}: '{name}' is {list(tensor.shape)} here and {there} in "
                f"it. Use the same model: --preset {base.config.preset_name}, same --set model.…"
            )
        if feature is None:
            tensor.copy_(theirs[name])
        else:
            made = rows(theirs[name].cpu(), base.tokenizers[feature], tokenizers[feature])
            if made.shape != tensor.shape:
                raise UsageError(
                    f"cannot begin from {path}: model.dim is {tensor.shape[1]} here and "
                    f"{made.shape[1]} in it. Use --preset {base.config.preset_name}"
                )
            tensor.copy_(made)
            mapped = max(mapped, len(made) - len(theirs[name]))
    found = base.checkpoint["name"]
    more = f", {mapped} pieces are new" if mapped > 0 else ""
    return f"beginning from {path}, {found}{more}"


def rows(table: Tensor, before: Tokenizer, after: Tokenizer) -> Tensor:
    """The embedding of `after`, made from that of `before`."""
    new = torch.empty(after.size, table.shape[1], dtype=table.dtype)
    same = after.size >= before.size and all(
        after.pieces([i]) == before.pieces([i]) for i in range(before.size)
    )
    kept = before.size if same else RESERVED
    new[:kept] = table[:kept]
    for number in range(kept, after.size):
        piece = after.decode([number])
        if isinstance(piece, Addressed) and piece.to not in before.tags:
            first = before.size - len(before.tags) if before.tags else RESERVED
            new[number] = table[first:].mean(0)
        else:
            new[number] = table[before.encode(piece)].mean(0)
    return new


def _feature(name: str) -> str | None:
    """Which feature's vocabulary a tensor has a row a symbol of; None for all others."""
    if name == "inputs.weight":
        return "inputs"
    return "targets" if name in ("targets.weight", "head.embedding.weight") else None

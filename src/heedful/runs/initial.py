"""Beginning from another run's weights: fine-tuning, also with another vocabulary, and models that
have another one inside."""

from pathlib import Path

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.models.base import Model
from heedful.models.classifier import Classifier
from heedful.runs.loading import Loaded, load_model
from heedful.runs.weights import weights
from heedful.text.base import Tokenizer
from heedful.text.labels import LabelTokenizer
from heedful.text.specials import RESERVED
from heedful.text.tagged import Addressed


@torch.no_grad()
def begin_from(path: Path, model: Model, tokenizers: dict[str, Tokenizer]) -> str:
    """Give `model` the weights of the run at `path`; what was done, for a person.

    Everything but embeddings must have the same shape. An embedding of another vocabulary is made
    from the other's: a piece both have keeps its vector, a new one begins as the mean of the pieces
    that it is cut into there, and the tag of a new language as the mean of the other tags, or of
    all pieces where there are none.

    A model of another kind takes over what its body `borrows` from such a one, and a classifier
    with other labels all but those; the rest of it begins anew.
    """
    base = load_model(path)
    theirs, own = weights(base.model), weights(model)
    taken = _taken(model, tokenizers, base, own)
    mapped = 0
    for name, their_name in taken.items():
        tensor, there = own[name], theirs.get(their_name)
        feature = _feature(their_name, there, base.tokenizers)
        if there is not None and feature is not None:
            after = tokenizers["inputs" if name.startswith("inputs.") else "targets"]
            before = len(there)
            there = rows(there.cpu(), base.tokenizers[feature], after)
            mapped = max(mapped, len(there) - before)
        if there is None or there.shape != tensor.shape:
            found_there = "not there" if there is None else list(there.shape)
            raise UsageError(
                f"cannot begin from {path}: '{name}' is {list(tensor.shape)} here and "
                f"{found_there} in it. {_remedy(base, whole=len(taken) == len(own))}"
            )
        tensor.copy_(there)
    found = base.checkpoint["name"]
    more = f", {mapped} pieces are new" if mapped > 0 else ""
    if len(taken) < len(own):
        more += f", {len(own) - len(taken)} of {len(own)} tensors begin anew"
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


def _taken(
    model: Model, tokenizers: dict[str, Tokenizer], base: Loaded, own: dict[str, Tensor]
) -> dict[str, str]:
    """Which of the model's tensors are taken over, and what each is called in the other run."""
    borrows = getattr(model.body, "borrows", {}).get(base.model.config.kind)
    if borrows is not None:
        return {
            name: other + name.removeprefix(prefix)
            for prefix, other in borrows.items()
            for name in own
            if name.startswith(prefix)
        }
    labels = tokenizers.get("targets"), base.tokenizers.get("targets")
    both = [of.labels for of in labels if isinstance(of, LabelTokenizer)]
    others = isinstance(model, Classifier) and len(both) == 2 and both[0] != both[1]
    return {name: name for name in own if not (others and name.startswith("targets."))}


def _remedy(base: Loaded, whole: bool) -> str:
    if whole:
        return f"Use the same model: --preset {base.config.preset_name}, same --set model.…"
    return "The model inside must be the same: give it the numbers of that run, --set model.…"


def _feature(name: str, table: Tensor | None, tokenizers: dict[str, Tokenizer]) -> str | None:
    """Which feature's vocabulary a tensor has a row a symbol of; None for all others."""
    feature = None
    if name in ("inputs.weight", "inputs.own.weight", "inputs.lm.weight"):
        feature = "inputs"
    elif name in ("targets.weight", "head.embedding.weight"):
        feature = "targets"
    # A table of characters, or of labels without the special ids, is none of symbols.
    if feature is None or table is None or len(table) != tokenizers[feature].size:
        return None
    return feature

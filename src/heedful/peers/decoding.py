"""A peer's outputs, by its own search and our tokenizers: text in, text out, in order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from heedful.data.batch import pad
from heedful.decoding.search import check
from heedful.peers.marian import POSITIONS
from heedful.presets.base import Decode
from heedful.text.base import Tokenizer
from heedful.text.specials import EOS, PAD


def decode(
    model: nn.Module,
    tokenizers: Mapping[str, Tokenizer],
    texts: Sequence[str],
    config: Decode,
    device: torch.device,
) -> list[str]:
    """The best output of each text, by the library's `generate`, in full precision.

    The beam is ours, alpha is its `length_penalty`, and outputs may be as long as ours may; a batch
    is as large as ours are. An empty text has an empty output.
    """
    check(config)
    encoded = [_cut(tokenizers["inputs"].encode(text.strip("\r\n"))) for text in texts]
    found = [""] * len(texts)
    generator: Any = model.to(device).eval()
    for places in _batches(encoded, config):
        source = pad([encoded[place] for place in places]).ids.to(device)
        with torch.no_grad():
            ids = generator.generate(
                input_ids=source,
                attention_mask=(source != PAD).long(),
                num_beams=config.beam,
                do_sample=False,
                length_penalty=config.alpha,
                max_new_tokens=min(source.shape[1] + config.extra_length, POSITIONS - 1),
                suppress_tokens=[PAD],
            )
        for place, row in zip(places, ids.tolist(), strict=True):
            found[place] = tokenizers["targets"].decode(_said(row[1:]))  # after the start
    return found


def _cut(ids: list[int]) -> list[int]:
    """With the end symbol; none for a text without words."""
    return [*ids[: POSITIONS - 1], EOS] if ids else []


def _said(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS)] if EOS in ids else ids


def _batches(encoded: Sequence[Sequence[int]], config: Decode) -> Iterator[list[int]]:
    """The places of texts of like length, longest first, under the budget of slots."""
    full = [place for place, ids in enumerate(encoded) if ids]
    batch: list[int] = []
    for place in sorted(full, key=lambda place: -len(encoded[place])):
        longest = len(encoded[batch[0] if batch else place])
        if batch and (len(batch) + 1) * config.beam * longest > config.batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch

"""How long an output may become."""

from collections.abc import Sequence

from heedful.data.batch import Batch
from heedful.decoding.protocol import Decodable, RowError
from heedful.models.base import LanguageModel
from heedful.models.captioner import Captioner


def output_limits(
    model: Decodable,
    batch: Batch,
    extra_length: int,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[int]:
    """The most tokens each row may give, the end symbol counted.

    A row's own input (its end symbol counted), or the prefix it is given where that is longer, plus
    `extra_length`; but never more than the model has positions for. It depends on no other row, so
    a sentence gets the same room in any batch.
    """
    sources = [0] * batch_rows(batch)
    if "inputs" in batch.features and not isinstance(model, Captioner):  # pixels are no words
        sources = batch.inputs.at.real.sum(dim=1).tolist()
    starts = [0] * len(sources) if prefixes is None else [len(prefix) for prefix in prefixes]
    limits = []
    for row, (source, start) in enumerate(zip(sources, starts, strict=True)):
        limit = max(1, max(source, start) + extra_length)
        room = _positions_left(model, source)
        if room is not None:
            if room <= start:
                raise RowError(
                    row,
                    f"its {source + start} tokens leave no room for an output in the "
                    f"{getattr(model, 'longest', 0)} positions of this model. Shorten the text",
                )
            limit = min(limit, room)
        limits.append(limit)
    return limits


def batch_rows(batch: Batch) -> int:
    """How many rows a batch has, whichever features it holds."""
    return next(iter(batch.features.values())).ids.shape[0]


def _positions_left(model: Decodable, source: int) -> int | None:
    """How many positions there are for the output; None where there is no end to them."""
    longest: int | None = getattr(model, "longest", None)
    if longest is None:
        return None
    if isinstance(model, LanguageModel):  # its output goes on where the source ends
        return longest - source
    return longest if source <= longest else 0

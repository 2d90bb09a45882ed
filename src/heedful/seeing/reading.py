"""What a model reads and writes when somebody looks: ids of a text, and of an output for it."""

from dataclasses import dataclass

from heedful.data.batch import Batch, pad
from heedful.decoding.search import decode
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import Model
from heedful.text.specials import EOS
from heedful.text.tagged import Addressed


@dataclass(frozen=True)
class Passage:
    """A source (None for a model without one) and a target, as ids; EOS is among them."""

    source: list[int] | None
    target: list[int]

    @property
    def batch(self) -> Batch:
        rows = {"targets": pad([self.target])}
        return Batch(rows if self.source is None else {"inputs": pad([self.source]), **rows})


def passage(translator: Translator, text: str, target: str | None = None) -> Passage:
    """The text with `target`, or with what the model writes for it.

    A model without a source reads the text itself, and `target` after it.
    """
    source = source_ids(translator, text)
    targets = translator.tokenizers["targets"]
    if source is None:
        whole = [*targets.encode(text + (target or "")), EOS]
        return Passage(None, _within(translator, whole))
    if target is not None:
        return Passage(source, _within(translator, [*targets.encode(target), EOS]))
    best = decode(model_of(translator), source_batch(translator, source), translator.config)[0][0]
    return Passage(source, [*best.ids, *([EOS] if best.finished else [])])


def source_ids(translator: Translator, text: str) -> list[int] | None:
    """What the model reads, the end symbol too; None where it has no source."""
    if not text.strip():
        raise UsageError("there is no text to look at: it is empty")
    inputs = translator.tokenizers.get("inputs")
    if inputs is None:
        return None
    language = None if isinstance(text, Addressed) else translator.language()
    ids = [*inputs.encode(text if language is None else Addressed(text, language)), EOS]
    longest = translator.config.longest_input
    if len(ids) - 1 > longest:
        raise HeedfulError(
            f"the text has {len(ids) - 1} tokens, and decode.longest_input is {longest}. "
            "Split the text, or raise the setting"
        )
    return _within(translator, ids)


def _within(translator: Translator, ids: list[int]) -> list[int]:
    """The ids, or an error where the model has learnt fewer positions than they need."""
    longest: int | None = getattr(translator.model, "longest", None)
    if longest is not None and len(ids) > longest:
        raise HeedfulError(
            f"a text of {len(ids)} tokens, its end counted, is longer than the {longest} positions "
            "this model has learnt. Shorten it"
        )
    return ids


def source_batch(translator: Translator, source: list[int]) -> Batch:
    return Batch({"inputs": pad([source])}).to(translator.device)


def model_of(translator: Translator) -> Model:
    """The model, or an error where it is none that can be watched."""
    if not isinstance(translator.model, Model):
        raise UsageError(
            f"{type(translator.model).__name__} cannot be looked into: only models of "
            "heedful.models can"
        )
    return translator.model

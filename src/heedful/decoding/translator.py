"""Text in, text out: a model, its tokenizers and a way of decoding, loaded once and used often.

Lines go through sorted by length and in batches under a token budget, and come back in the order
they came. A line that cannot be decoded carries its reason; the others do not notice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import nn

from heedful.data.batch import Batch, pad
from heedful.decoding.decoded import Candidate, Decoded
from heedful.decoding.protocol import Decodable, Hypothesis, RowError
from heedful.decoding.recorded import WHOLE, Recorded
from heedful.decoding.sampling import mixed
from heedful.decoding.search import check, decode
from heedful.errors import HeedfulError, UsageError
from heedful.nn.heap import keep_freed
from heedful.presets.base import Decode
from heedful.text.base import Tokenizer
from heedful.text.specials import EOS
from heedful.text.tagged import Addressed, TaggedTokenizer

WINDOW = 4096  # lines that a stream holds at a time


@dataclass(frozen=True)
class _Line:
    """A line on its way through: where it stands in the window and in all of the input."""

    place: int
    number: int
    source: list[int] | None  # the end symbol included; None for a model without inputs
    prefix: list[int]

    @property
    def length(self) -> int:
        return len(self.prefix) if self.source is None else len(self.source)


class Translator:
    """A model with its tokenizers ("inputs" and "targets", or "targets" alone).

    Without "inputs" the text is a prompt: the output begins with it and goes on. `to` is the
    language to write where nobody says another, for a model that was trained to write several.
    """

    def __init__(
        self,
        model: Decodable,
        tokenizers: Mapping[str, Tokenizer],
        decode: Decode,
        device: torch.device | str = "cpu",
        to: str | None = None,
    ) -> None:
        check(decode)
        self.model = model.to(device) if isinstance(model, nn.Module) else model
        kind = torch.device(device).type
        if kind == "cpu":
            keep_freed()
        self.recorded = Recorded(self.model) if kind == "cuda" else None
        self.tokenizers = tokenizers
        self.config = decode
        self.device = device
        self.to = to

    def translate(
        self,
        texts: Sequence[str],
        decode: Decode | None = None,
        seed: int = 0,
        *,
        to: str | None = None,
    ) -> list[str]:
        """The best output of each text, in the language `to` if the model can write several.

        A text that cannot be decoded raises; see `decode`.
        """
        found = self.decode(texts, decode, seed=seed, to=to)
        for number, line in enumerate(found, start=1):
            if line.error is not None:
                raise HeedfulError(f"text {number}: {line.error}")
        return [line.text for line in found]

    def decode(
        self,
        texts: Sequence[str],
        decode: Decode | None = None,
        *,
        prefixes: Sequence[str] | None = None,
        seed: int = 0,
        to: str | None = None,
        first: int = 0,
    ) -> list[Decoded]:
        """What became of each text, in the order given; `decode` in place of the usual settings.

        `prefixes` are texts that the outputs must begin with, "" for none; `to` is the language to
        write. `first` is the number of the first text where these are a part of more: each is
        sampled by its own.
        """
        if prefixes is not None and len(prefixes) != len(texts):
            raise UsageError(f"{len(prefixes)} prefixes for {len(texts)} texts. Give one a text")
        addressed = self._addressed(texts, to)
        return self._window(addressed, first, decode or self.config, prefixes, seed)

    def decode_stream(
        self,
        lines: Iterable[str],
        decode: Decode | None = None,
        *,
        prefix: str = "",
        seed: int = 0,
        window: int = WINDOW,
        to: str | None = None,
    ) -> Iterator[Decoded]:
        """As `decode`, for any number of lines: only `window` of them are held at a time.

        `prefix` is a text that every output must begin with.
        """
        coming = iter(lines)
        number = 0
        while texts := list(islice(coming, window)):
            prefixes = [prefix] * len(texts)
            texts = self._addressed(texts, to)
            yield from self._window(texts, number, decode or self.config, prefixes, seed)
            number += len(texts)

    def language(self, to: str | None = None) -> str | None:
        """The language to write when `to` is asked for; an error where it cannot be so.

        None for a model that was trained to write one.
        """
        to = to or self.to
        inputs = self.tokenizers.get("inputs")
        if not isinstance(inputs, TaggedTokenizer):
            if to is not None:
                raise UsageError(
                    f"cannot write '{to}' on demand: this model was trained without tags of "
                    "languages, so there is nothing to choose. Leave `to` (--to) out"
                )
            return None
        if to is None:
            raise UsageError(
                "this model writes several languages: say which, with to=… (--to …). It can be: "
                f"{', '.join(inputs.tags)}"
            )
        inputs.tag(to)
        return to

    def _addressed(self, texts: Sequence[str], to: str | None) -> list[str]:
        """The texts, without line ends, and with the language they go to where there are several.

        Prepared text of a mixture comes addressed, and stays so if nobody says another language.
        """
        addressed = [to is None and isinstance(text, Addressed) for text in texts]
        language = None if texts and all(addressed) else self.language(to)
        return [
            _readdressed(text, text.to if isinstance(text, Addressed) and kept else language)
            for text, kept in zip(texts, addressed, strict=True)
        ]

    def _window(
        self,
        texts: list[str],
        first: int,
        config: Decode,
        prefixes: Sequence[str] | None,
        seed: int,
    ) -> list[Decoded]:
        check(config)
        found = [Decoded()] * len(texts)
        lines = []
        for place, text in enumerate(texts):
            try:
                line = self._line(place, first + place, text, prefixes[place] if prefixes else "")
                if line is not None:
                    _check_length(line, config)
                    lines.append(line)
            except HeedfulError as error:
                found[place] = Decoded(error=str(error))
        for group in batches(lines, config, 1 if self.recorded is None else WHOLE):
            for line, decoded in self._group(group, config, seed):
                found[line.place] = decoded
        return found

    def _line(self, place: int, number: int, text: str, prefix: str) -> _Line | None:
        """The ids of a line; None for an empty one, which needs no model."""
        targets = self.tokenizers["targets"]
        if "inputs" not in self.tokenizers:
            return _Line(place, number, None, targets.encode(text) + targets.encode(prefix))
        if not text.strip():
            return None
        source = [*self.tokenizers["inputs"].encode(text), EOS]
        return _Line(place, number, source, targets.encode(prefix))

    def _group(
        self, lines: list[_Line], config: Decode, seed: int
    ) -> Iterator[tuple[_Line, Decoded]]:
        """A batch; if it fails, its halves; if a single line fails, the reason."""
        reason = None
        try:
            results = self._search(lines, config, seed)
        except UsageError:
            raise
        except (HeedfulError, RuntimeError, MemoryError) as error:
            reason = _one_line(error, max(line.length for line in lines))
        if reason is None:
            yield from ((line, self._decoded(r)) for line, r in zip(lines, results, strict=True))
            return
        # Only out here is the failed batch's memory free again: an exception holds on to it.
        if self.recorded is not None:
            self.recorded.forget()
            torch.cuda.empty_cache()
        if len(lines) == 1:
            yield lines[0], Decoded(error=reason)
            return
        half = len(lines) // 2
        yield from self._group(lines[:half], config, seed)
        yield from self._group(lines[half:], config, seed)

    def _search(self, lines: list[_Line], config: Decode, seed: int) -> list[list[Hypothesis]]:
        prefixes = [line.prefix for line in lines]
        if "inputs" in self.tokenizers:
            features = {"inputs": pad([line.source or [] for line in lines])}
        else:
            features = {"targets": pad(prefixes)}
        batch = Batch(features, tuple(line.number for line in lines)).to(self.device)
        seeds = [mixed(seed, line.number) for line in lines]
        forced = prefixes if any(prefixes) else None
        return decode(self.model, batch, config, forced, seeds, self.recorded)

    def _decoded(self, hypotheses: list[Hypothesis]) -> Decoded:
        targets = self.tokenizers["targets"]
        candidates = tuple(
            Candidate(
                text=targets.decode(h.ids),
                score=h.score,
                pieces=tuple(targets.pieces([*h.ids, EOS] if h.finished else h.ids)),
                token_scores=h.token_scores,
                finished=h.finished,
            )
            for h in hypotheses
        )
        return Decoded(candidates[0].text, candidates[0].score, candidates)


def batches(lines: Sequence[_Line], config: Decode, whole: int = 1) -> Iterator[list[_Line]]:
    """Lines of like length together, longest first, so that what does not fit shows at once.

    A batch costs lines x hypotheses a line x its longest line, and stays under
    `config.batch_tokens`; a line that is over it by itself goes alone. One of more than `whole`
    lines has a whole number of so many.
    """
    width = config.nbest if config.sample else config.beam
    batch: list[_Line] = []
    for line in sorted(lines, key=lambda line: -line.length):
        longest = max(1, batch[0].length if batch else line.length)
        if batch and (len(batch) + 1) * width * longest > config.batch_tokens:
            cut = len(batch) // whole * whole or len(batch)
            yield batch[:cut]
            batch = batch[cut:]
        batch.append(line)
    if batch:
        yield batch


def _readdressed(text: str, to: str | None) -> str:
    stripped = text.strip("\r\n")
    return stripped if to is None else Addressed(stripped, to)


def _check_length(line: _Line, config: Decode) -> None:
    tokens = line.length if line.source is None else line.length - 1
    if tokens > config.longest_input:
        raise HeedfulError(
            f"the line has {tokens} tokens, and decode.longest_input is {config.longest_input}. "
            "Split the line, or raise the setting"
        )


def _one_line(error: Exception, length: int) -> str:
    """The reason in one line; torch's own can be pages."""
    if isinstance(error, RowError):
        return error.reason
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    return f"decoding a line of {length} tokens failed: {said}"

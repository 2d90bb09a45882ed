"""How fast decoding is: ours beside other libraries, with the same weights and the same sources.

The weights are those of a run folder, exported for each library as `heedful export` does. Ids go
in and ids come out: no tokenizer is timed. Sources are sorted by length and decoded in batches of a
fixed number of sentences, the same for all. Without a length penalty all search for the same, so
each row says which share of its outputs is, token for token, what ours are in float32. Sentences
whose outputs do not end are left out: who decodes a whole batch until its last output is done
would be measured by them alone. All take turns, round by round: where a machine is slower for a
minute, it is so for all; and each library has a process of its own.
"""

import copy
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from heedful.bench.entrants import Away, Engine, Entrant, Here, Ids, Out, Shown
from heedful.bench.rivals import Rival
from heedful.bench.table import Bench, Row, Tell, failure, gain
from heedful.bench.timing import free, rates
from heedful.config import to_json
from heedful.data.batch import Batch, pad
from heedful.data.preparation import Progress, prepare, silent
from heedful.decoding.job import Known
from heedful.decoding.ready import check_whole, make_ready
from heedful.decoding.recorded import Recorded
from heedful.decoding.search import decode
from heedful.errors import UsageError
from heedful.interop import ctranslate2, huggingface
from heedful.interop.export import export
from heedful.interop.tokenizer import names
from heedful.nn.heap import keep_freed
from heedful.presets.base import Decode
from heedful.problems.base import TEST
from heedful.runs.config import RunConfig
from heedful.runs.loading import Loaded, load_model
from heedful.text.specials import EOS, PAD
from heedful.training.trainer import train

UNIT = "output tokens/s"
REST = 0.5  # seconds before a turn: threads of whoever came before may still wait by spinning
COLUMNS = ("equal", "tokens", "peak_gb")
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
READY: dict[str, Known] = {"float32": "fp32", "bfloat16": "bf16", "int8": "int8"}  # on a CPU
NONE_ENDS = (
    "no output ends in time, so all sentences are measured, and what is measured is their limit: "
    "train the run further"
)
RIVALS = (
    Rival("huggingface", "Hugging Face generate", "transformers"),
    Rival("ctranslate2", "CTranslate2", "ctranslate2"),
)


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured, and how often."""

    run: Path
    checkpoint: str | None = None
    beams: tuple[int, ...] = (4, 1)
    precisions: tuple[str, ...] = ("float32",)
    rivals: tuple[Rival, ...] = RIVALS
    batch: int = 32  # sentences
    sentences: int = 128  # of the run's test split; fewer if there are no more
    repeats: int = 5
    warmup: int = 1

    def __post_init__(self) -> None:
        unknown = [name for name in self.precisions if name not in READY]
        if unknown:
            raise UsageError(
                f"no precision named '{unknown[0]}' here. There are: {', '.join(READY)}"
            )
        counts = {"--batch": self.batch, "--sentences": self.sentences, "--repeats": self.repeats}
        counts |= {"--beam": min(self.beams, default=0)}
        for name, count in counts.items():
            if count < 1:
                raise UsageError(f"{name} must be 1 or more, got {count}")


def bench_decode(
    measuring: Measuring,
    device: torch.device,
    data: Path,
    tell: Tell,
    progress: Progress = silent,
) -> Bench:
    """Measure all of it, beam by beam."""
    m = measuring
    if "int8" in m.precisions:
        check_whole(device)
    if device.type == "cpu":
        keep_freed()  # as a Translator does
    loaded = load_model(m.run, m.checkpoint)
    sources = _sources(loaded.config, m, data, progress)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="heedful-bench-") as folder:
        table = Table(m, loaded, sources, Path(folder), device, tell)
        ending = table.ending()
        table = replace(table, sources=ending or sources)
        for beam in m.beams:
            rows += table.rows(beam)
    settings = {
        "run": m.run.name,
        "checkpoint": loaded.checkpoint,
        "problem": loaded.config.problem_name,
        "preset": loaded.config.preset_name,
        "model": to_json(loaded.config.preset.model),  # a run may depart from its preset
        "vocabulary": loaded.tokenizers["targets"].size,
        "batch": m.batch,
        "sentences": len(table.sources),
        "left_out": len(sources) - len(table.sources),
        "mean_source": sum(map(len, table.sources)) / len(table.sources),
        "repeats": m.repeats,
        "warmup": m.warmup,
    }
    notes = (
        "ids in, ids out; the same batches for all; no length penalty; the ends of outputs are "
        "counted; `equal` is the share of outputs that are what heedful's are in float32",
        "sentences are left out where an output of ours, with any beam and precision, does not end "
        "before it is longer than its source by what the preset allows; others' may become as long "
        "as the longest of their batch may",
        "on a CPU decoding has malloc keep what is freed, here for all alike",
        "all take turns, each library in a process of its own",
        *(() if ending else (NONE_ENDS,)),
    )
    return Bench(kind="decode", rows=tuple(rows), settings=settings, notes=notes)


def stand_in(config: RunConfig, folder: Path, data: Path, device: torch.device, tell: Tell) -> Path:
    """A run to measure where none is given: trained so far that its outputs come to an end. Random
    weights would not do: they never end, and have no best output to agree on."""
    tell(f"training {config.preset_name} on {config.problem_name} for a moment")
    train(config, folder, data, device=str(device))
    return folder


def _sources(config: RunConfig, m: Measuring, data: Path, progress: Progress) -> list[Ids]:
    """Those of the test split, the longest first."""
    prepared = prepare(config.problem_name, config.problem, data, progress)
    if "inputs" not in prepared.features:
        raise UsageError(f"bench decode needs a source, and {config.problem_name} has none")
    shards = prepared.split(TEST)
    count = min(m.sentences, len(shards))
    sources = [shards.example(i)["inputs"].tolist() for i in range(count)]
    if not sources:
        raise UsageError(f"the test split of {config.problem_name} is empty")
    return sorted(sources, key=len, reverse=True)


@dataclass(frozen=True, eq=False)
class Table:
    """What is measured of one run, beam by beam."""

    m: Measuring
    loaded: Loaded
    sources: list[Ids]
    exported: Path
    device: torch.device
    tell: Tell

    @property
    def batches(self) -> list[list[Ids]]:
        size = self.m.batch
        return [self.sources[i : i + size] for i in range(0, len(self.sources), size)]

    @property
    def extra(self) -> int:
        """How much longer than its source an output may be, the end of it counted."""
        return self.loaded.config.preset.decode.extra_length

    def ending(self) -> list[Ids]:
        """The sentences whose outputs of ours all end in time."""
        ends = [True] * len(self.sources)
        for precision in self.m.precisions:
            for beam in self.m.beams:
                said = self.said(precision, beam)
                for i, output in enumerate(said or ()):
                    ends[i] &= len(output) < len(self.sources[i]) + self.extra
        left = ends.count(False)
        if left == len(ends):
            self.tell(NONE_ENDS)
        elif left:
            self.tell(f"left out: {left} of {len(ends)} sentences, whose outputs do not end")
        return [source for source, its in zip(self.sources, ends, strict=True) if its]

    def rows(self, beam: int) -> list[Row]:
        """Ours and all others with one beam, and how many times as fast ours is."""
        wanted, entrants = self.said("float32", beam), list(self.entrants(beam))
        for entrant in entrants:
            self.tell(entrant.name)
            entrant.warm_up(self.m.warmup)
        for number in range(self.m.repeats):
            self.tell(f"beam {beam}, round {number + 1} of {self.m.repeats}")
            for entrant in entrants:
                time.sleep(REST)
                entrant.take_a_turn()
        for entrant in entrants:
            entrant.close()
        rows = [self.row(entrant, beam, wanted) for entrant in entrants]
        rows += [rival.missing(UNIT) for rival in self.m.rivals if not rival.installed]
        for row in rows:
            self.tell(f"{row.name}: {row.note or f'{row.value:,.0f} {row.unit}'}")
        return [*rows, *self.gains(rows, beam)]

    def entrants(self, beam: int) -> Iterator[Entrant]:
        """Ours in each precision, and the others that are installed."""
        same = beam, self.batches, self.device
        for precision in self.m.precisions:
            name, make = f"heedful {precision}, beam {beam}", self.make_ours(precision)
            yield Here(name, precision, make, *same)
        for rival in self.m.rivals:
            for precision in self.theirs(rival) if rival.installed else ():
                name = f"{rival.title} {precision}, beam {beam}"
                try:
                    make = self.make(rival, precision)
                except Exception as error:
                    yield Out(name, precision, Shown(failure=failure(error)))
                else:
                    yield Away(Here(name, precision, make, *same))

    def said(self, precision: str, beam: int) -> list[Ids] | None:
        """What ours gives; None where that fails, for the others may not."""
        reason = ""
        try:
            engine = self.make_ours(precision)()
            return [output for batch in self.batches for output in engine(batch, beam)]
        except Exception as error:
            reason = failure(error)
        self.tell(f"no outputs of ours in {precision} to go by: {reason}")
        free(self.device)
        return None

    def theirs(self, rival: Rival) -> tuple[str, ...]:
        """CTranslate2 has whole numbers too, and on a CPU no bfloat16; Hugging Face has none."""
        if rival.name == "ctranslate2" and self.device.type == "cpu":
            return ("float32", "int8")
        return tuple(name for name in self.m.precisions if name in PRECISIONS)

    def make_ours(self, precision: str) -> Callable[[], Engine]:
        return partial(ours, self.loaded, precision, self.extra, self.device)

    def make(self, rival: Rival, precision: str) -> Callable[[], Engine]:
        folder = self.exported / rival.name
        if not folder.exists():
            export(self.m.run, rival.name, folder, self.m.checkpoint)
        if rival.name == "huggingface":
            return partial(generate, folder, precision, self.extra, self.device)
        of_inputs, of_targets = (names(self.loaded.tokenizers[s]) for s in ("inputs", "targets"))
        of_ids = of_inputs, of_targets
        return partial(translate, folder, of_ids, precision, self.extra, self.device)

    def row(self, entrant: Entrant, beam: int, wanted: Sequence[Ids] | None) -> Row:
        """What one has shown."""
        shown = entrant.shown
        if shown.failure:
            return Row(name=entrant.name, unit=UNIT, note=shown.failure)
        tokens = sum(len(output) + 1 for output in shown.said)
        more: dict[str, Any] = {
            "beam": beam,
            "precision": entrant.precision,
            "tokens": tokens,
            "equal": None if wanted is None else equal(shown.said, wanted),
            "peak_gb": shown.peak_gb,
        }
        return Row.of(entrant.name, UNIT, rates(tokens, shown.seconds), more)

    def gains(self, rows: Sequence[Row], beam: int) -> list[Row]:
        """Ours over each of the others in the same precision."""
        found = []
        for rival in self.m.rivals:
            for precision in self.m.precisions:
                pair = [
                    row
                    for row in rows
                    if row.more.get("precision") == precision
                    and (row.ours or row.name.startswith(rival.title))
                ]
                found += gain(f"heedful over {rival.title}, {precision}, beam {beam}", pair)
        return found


def equal(said: Sequence[Ids], wanted: Sequence[Ids]) -> float:
    """The share of outputs that are the same, token for token."""
    same = [output == ours for output, ours in zip(said, wanted, strict=True)]
    return sum(same) / len(same)


def ours(loaded: Loaded, precision: str, extra: int, device: torch.device) -> Engine:
    """Our own search; an output may be `extra` longer than its source."""
    model = copy.deepcopy(loaded.model).to(device)
    if device.type == "cpu":
        make_ready(model, READY[precision], device)
    else:
        model.to(PRECISIONS[precision])
    recorded = Recorded(model) if device.type == "cuda" else None

    def engine(sources: Sequence[Ids], beam: int) -> list[Ids]:
        batch = Batch({"inputs": pad(sources)}).to(device)
        config = Decode(beam=beam, alpha=0.0, extra_length=extra)
        return [list(best[0].ids) for best in decode(model, batch, config, recorded=recorded)]

    return engine


def generate(folder: Path, precision: str, extra: int, device: torch.device) -> Engine:
    """Hugging Face's `generate`, of an exported model; an output may be `extra` longer than the
    longest source of its batch."""
    theirs = huggingface.library()
    with huggingface.quiet(theirs):
        loaded = theirs.AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True)
    model = loaded.to(PRECISIONS[precision]).to(device).eval()

    def engine(sources: Sequence[Ids], beam: int) -> list[Ids]:
        source = pad(sources).ids.to(device)
        penalty = {"length_penalty": 0.0, "early_stopping": False} if beam > 1 else {}
        with torch.no_grad(), huggingface.quiet(theirs):
            ids = model.generate(
                input_ids=source,
                attention_mask=(source != PAD).long(),
                num_beams=beam,
                do_sample=False,
                max_new_tokens=source.shape[1] + extra,
                **penalty,
            )
        return [_said(row[1:]) for row in ids.tolist()]  # after the start

    return engine


def translate(
    folder: Path,
    of_ids: tuple[Sequence[str], Sequence[str]],
    kind: str,
    extra: int,
    device: torch.device,
) -> Engine:
    """CTranslate2, of an exported model, whose inputs and targets have these names by their ids; as
    many threads as torch has. Torch must compute nothing in the process: its threads would be in
    the way of those of CTranslate2."""
    with ctranslate2.quiet(ctranslate2.library()) as theirs:
        translator = theirs.Translator(
            str(folder),
            device=device.type,
            device_index=device.index or 0,
            compute_type=kind,
            inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )
    of_inputs, of_targets = of_ids
    ids = {name: i for i, name in enumerate(of_targets)}

    def engine(sources: Sequence[Ids], beam: int) -> list[Ids]:
        found = translator.translate_batch(
            [[of_inputs[i] for i in source[:-1]] for source in sources],
            beam_size=beam,
            length_penalty=0.0,
            max_decoding_length=max(map(len, sources)) + extra,
        )
        return [[ids[token] for token in one.hypotheses[0]] for one in found]

    return engine


def _said(ids: Ids) -> Ids:
    return ids[: ids.index(EOS)] if EOS in ids else ids

"""`heedful compose`: music that a model composes, to hear, to see and to play on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heedful.cli.options import Checkpoint, Device, Plugins, Run, load_plugins
from heedful.cli.screen import note, warn
from heedful.errors import HeedfulError, UsageError

if TYPE_CHECKING:
    from heedful.decoding.composing import Composed, Composing
    from heedful.runs.loading import Loaded
    from heedful.text.music import MusicTokenizer

OUT = Path("composed")


def compose(
    run: Run,
    prime: Annotated[
        Path | None,
        typer.Option("--prime", metavar="FILE", help="A MIDI file to go on from; else silence."),
    ] = None,
    melody: Annotated[
        Path | None,
        typer.Option("--melody", metavar="FILE", help="A MIDI file to accompany."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            help="How long the piece is, the motif counted. Without it: 30, or as the melody.",
        ),
    ] = None,
    temperature: Annotated[
        float, typer.Option("--temperature", help="How bold: 0 takes what is likeliest.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="The same seed, the same piece.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="NAME", help="Of the files, without an ending.")
    ] = OUT,
    checkpoint: Checkpoint = None,
    device: Device = "auto",
    plugin: Plugins = None,
) -> None:
    """Compose music: go on from a motif, begin from silence, or accompany a melody.

    Writes NAME.mid, NAME.wav, a piano roll as NAME.png, and NAME.html: one page that plays the
    piece and shows which notes the model attended to for each.

    \b
    Example:
      heedful compose runs/motifs --seconds 20 --out piece
      heedful compose runs/piano --prime motif.mid --seconds 30 --temperature 0.95
      heedful compose runs/canons --melody melody.mid --out piece
    """
    from heedful.decoding.composing import LONGEST, Composing
    from heedful.distributed.processes import pick_device
    from heedful.runs.loading import load_model

    if prime is not None and melody is not None:
        raise UsageError(
            "a piece goes on from a motif or accompanies a melody: give --prime or --melody, not "
            "both"
        )
    usual = 30.0 if melody is None else LONGEST
    how = Composing(
        seconds=usual if seconds is None else seconds, temperature=temperature, seed=seed
    )
    load_plugins(plugin)
    loaded = load_model(run, checkpoint, pick_device(device), warn)
    tokenizer, piece = _composed(loaded, run, prime, melody, how)
    from heedful.seeing.music import seen
    from heedful.seeing.sound import wav
    from heedful.text.midi import composed as as_midi
    from heedful.viz.music import music_page, roll_figure

    notes = tokenizer.notes(piece.ids)
    shown = seen(loaded.model, tokenizer, piece)
    _write(_named(out, ".mid"), as_midi(notes))
    _write(_named(out, ".wav"), wav(notes))
    roll_figure(_named(out, ".png"), shown["notes"], f"{run.name}, {len(notes):,} notes")
    note(f"wrote {_named(out, '.png')}")
    page = music_page(f"Composed by {run.name}", [{"name": out.name, **shown}])
    _write(_named(out, ".html"), page.encode("utf-8"))


def _composed(
    loaded: "Loaded", run: Path, prime: Path | None, melody: Path | None, how: "Composing"
) -> tuple["MusicTokenizer", "Composed"]:
    """A piece by whichever kind of model this is, and what tells its notes."""
    from heedful.decoding.accompanying import accompany
    from heedful.decoding.composing import compose as composed
    from heedful.text.chorale import ChoraleTokenizer
    from heedful.text.melody import MelodyTokenizer
    from heedful.text.music import MusicTokenizer

    name, limit = loaded.config.problem_name, loaded.config.preset.batch.limit
    tokenizer, source = loaded.tokenizers["targets"], loaded.tokenizers.get("inputs")
    if isinstance(tokenizer, ChoraleTokenizer) and isinstance(source, MelodyTokenizer):
        if melody is None:
            raise UsageError(
                f"{run} is a run of '{name}', which accompanies a melody: give one by --melody"
            )
        heard = source.encode(_melody(melody))
        return tokenizer, accompany(loaded.model, tokenizer, heard, how, limit, note)
    if not isinstance(tokenizer, MusicTokenizer) or source is not None:
        raise UsageError(
            f"{run} is a run of '{name}', which is no music: train on one of "
            "heedful list problems 'music_*'"
        )
    if melody is not None:
        raise UsageError(
            f"{run} is a run of '{name}', which has not learnt to accompany: go on from a motif by "
            "--prime, or train on music_accompaniment or music_canons"
        )
    begun = [] if prime is None else tokenizer.encode(_word(prime))
    return tokenizer, composed(loaded.model, tokenizer, begun, how, limit, note)


def _melody(path: Path) -> str:
    """A melody written out; of a piece with several notes at once the highest are said to be it."""
    from heedful.text import midi
    from heedful.text.melody import is_alone

    if not is_alone(midi.read(str(path), sixteenths=True)):
        note(f"{path} has several notes at once: the highest are taken as the melody")
    return _word(path)


def _word(path: Path) -> str:
    """A MIDI file written out, so that its name cannot be taken for symbols."""
    from heedful.text import midi

    midi.read(str(path))  # says what is wrong with it, by its name
    return midi.word(path.read_bytes())


def _named(out: Path, suffix: str) -> Path:
    """The file of this kind; a name that has one of the endings already keeps it once."""
    if out.suffix.lower() in (".mid", ".midi", ".wav", ".png", ".html"):
        out = out.with_suffix("")
    return out.with_name(out.name + suffix)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise HeedfulError(f"cannot write {path}: {error.strerror or error}") from error
    note(f"wrote {path}")

"""`heedful compose`: music that a model composes, to hear, to see and to play on."""

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Checkpoint, Device, Plugins, Run, load_plugins
from heedful.cli.screen import note, warn
from heedful.errors import HeedfulError, UsageError

OUT = Path("composed")


def compose(
    run: Run,
    prime: Annotated[
        Path | None,
        typer.Option("--prime", metavar="FILE", help="A MIDI file to go on from; else silence."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="How long the piece is, the motif counted.")
    ] = 30.0,
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
    """Compose music: go on from a motif, or begin from silence.

    Writes NAME.mid, NAME.wav, a piano roll as NAME.png, and NAME.html: one page that plays the
    piece and shows which earlier notes the model attended to for each.

    \b
    Example:
      heedful compose runs/motifs --seconds 20 --out piece
      heedful compose runs/piano --prime motif.mid --seconds 30 --temperature 0.95
    """
    from heedful.decoding.composing import Composing
    from heedful.decoding.composing import compose as composed
    from heedful.distributed.processes import pick_device
    from heedful.runs.loading import load_model
    from heedful.text.music import MusicTokenizer

    how = Composing(seconds=seconds, temperature=temperature, seed=seed)
    load_plugins(plugin)
    loaded = load_model(run, checkpoint, pick_device(device), warn)
    tokenizer = loaded.tokenizers["targets"]
    if not isinstance(tokenizer, MusicTokenizer) or "inputs" in loaded.tokenizers:
        raise UsageError(
            f"{run} is a run of '{loaded.config.problem_name}', which is no music: train on one of "
            "heedful list problems 'music_*'"
        )
    begun = [] if prime is None else tokenizer.encode(_word(prime))
    limit = loaded.config.preset.batch.limit
    piece = composed(loaded.model, tokenizer, begun, how, limit, note)
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

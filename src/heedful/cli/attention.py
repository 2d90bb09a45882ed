"""`heedful attention`: what a model attends to, as a page, as a picture or as numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import Checkpoint, Device, Json, Plugins, Run, load_plugins
from heedful.cli.screen import note, say_json, warn
from heedful.errors import HeedfulError, UsageError, nearest

if TYPE_CHECKING:
    from heedful.decoding.translator import Translator
    from heedful.viz.figures import Looking

PAGE = Path("attention.html")
KINDS = ("encoder", "decoder", "cross", "alignment", "to_second", "to_first", "summary")
HEADS = ("all", "mean", "rollout")
PAIRS = 4  # heads in a picture of two sentences


def attention(
    run: Run,
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="What is read.")],
    target: Annotated[
        str | None,
        typer.Option(
            "--target", metavar="TEXT", help="What is written, or a label; else the model's own."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="TEXT", help="The same text with one word changed."),
    ] = None,
    word: Annotated[
        str, typer.Option("--word", help="With --against: the word whose looks are compared.")
    ] = "it",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The page. Without it: attention.html."),
    ] = None,
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="A picture, for slides.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="A picture, for papers.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="Of a picture: encoder, decoder, cross or alignment; of a classifier encoder, "
            "to_second, to_first or summary.",
        ),
    ] = None,
    layer: Annotated[
        int | None, typer.Option("--layer", min=1, help="Of a picture. Without it: the last.")
    ] = None,
    head: Annotated[
        str, typer.Option("--head", help="Of a picture: a number, mean, rollout or all.")
    ] = "all",
    words: Annotated[
        bool, typer.Option("--words", help="In a picture: join subwords into words.")
    ] = False,
    beam: Annotated[
        int | None, typer.Option("--beam", min=1, help="Of the search whose tree is shown.")
    ] = None,
    json: Json = False,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="LANG", help="The language to write, if there are several."),
    ] = None,
    checkpoint: Checkpoint = None,
    device: Device = "auto",
    plugin: Plugins = None,
) -> None:
    """Show what a model attends to when it reads a text and writes another.

    The page is one file: every layer and head as lines and heat maps, alignments, the tree of the
    beam search. With --against, it shows what one word looks at in two texts. --png, --svg and
    --json write no page unless --out asks for one. Of a model that reads pictures, the text is the
    name of a picture's file, and the page shows where each word looked. Of a classifier, the page
    has every label with its probability; two texts stand in one --text with a tab between them.

    \b
    Example:
      heedful attention runs/demo --text "I like the green cat." --out page.html
      heedful attention runs/demo --text "I like it." --png cross.png --kind cross --layer 1
      heedful attention runs/shapes --text photo.jpg --out photo.html
      heedful attention runs/stars --text "a great film" --svg words.svg --kind summary
    """
    chosen = _head(head)
    if kind is not None and kind not in KINDS:
        raise UsageError(f"no kind '{kind}'.{nearest(kind, KINDS)} It can be: {', '.join(KINDS)}")
    if against is not None and target is not None:
        raise UsageError("--against compares how two texts are read: leave --target out")
    pictures = [path for path in (png, svg) if path is not None]
    for path, suffix in ((png, ".png"), (svg, ".svg")):
        if path is not None and path.suffix.lower() != suffix:
            raise UsageError(f"--{suffix[1:]} writes a {suffix} file, got '{path.name}'")
    load_plugins(plugin)
    translator = _translator(run, checkpoint, device, to)
    wants_page = out is not None or not (pictures or json)
    page = out or PAGE
    from heedful.seeing.captions import reads_pictures

    if reads_pictures(translator):
        if pictures or against is not None:
            raise UsageError("this model reads pictures: leave --png, --svg and --against out")
        _caption(translator, text, target, page if wants_page else None, json)
        return
    if against is not None:
        _pair(translator, (text, against, word), pictures, page if wants_page else None, json)
        return
    from heedful.seeing.attention import look

    seen = look(translator, text, target)
    if pictures:
        from heedful.seeing.panels import panels
        from heedful.viz.figures import heat_maps

        drawn = panels(seen, kind, None if layer is None else layer - 1, chosen, words)
    for path in pictures:
        heat_maps(path, drawn)
        note(f"wrote {path}")
    if json:
        say_json(seen.numbers())
    if wants_page:
        item: dict[str, Any] = {"look": seen.to_json()}
        writes = not seen.labels and any(one.kind != "encoder" for one in seen.attended)
        if target is None and writes:
            from heedful.seeing.beams import tree

            item["tree"] = tree(translator, text, beam)
        write_page(page, f"Attention of {run.name}", [item])


def write_page(
    path: Path, title: str, items: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]] = ()
) -> None:
    """Write the page, and say where."""
    from heedful.viz.attention import attention_page

    _write(path, attention_page(title, items, pairs))


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise HeedfulError(f"cannot write {path}: {error.strerror or error}") from error
    note(f"wrote {path}")


def _caption(
    translator: "Translator", text: str, target: str | None, page: Path | None, json: bool
) -> None:
    """A picture, and where each word about it looked."""
    from heedful.seeing.captions import gaze
    from heedful.viz.captions import caption_page

    seen = gaze(translator, text, target).to_json()
    if json:
        say_json(seen)
    if page is not None:
        _write(page, caption_page("Show, attend and tell", [seen]))


def _head(text: str) -> int | str:
    """A head by its number, from 0; or one of HEADS."""
    if text in HEADS:
        return text
    if not text.isdigit() or int(text) < 1:
        raise UsageError(f"--head is a number from 1 on, {', '.join(HEADS)}; got '{text}'")
    return int(text) - 1


def _translator(run: Path, checkpoint: str | None, device: str, to: str | None) -> "Translator":
    from heedful.decoding.translator import Translator
    from heedful.distributed.processes import pick_device
    from heedful.runs.loading import load_model

    place = pick_device(device)
    loaded = load_model(run, checkpoint, place, warn)
    return Translator(loaded.model, loaded.tokenizers, loaded.config.preset.decode, place, to)


def _pair(
    translator: "Translator",
    texts: tuple[str, str, str],
    pictures: Sequence[Path],
    page: Path | None,
    json: bool,
) -> None:
    """Two texts beside each other."""
    from heedful.seeing.attention import look
    from heedful.seeing.coreference import coreference
    from heedful.viz.figures import looking

    pair = coreference(translator, *texts)
    for path in pictures:
        looking(path, [_looking(pair, head) for head in pair["heads"][:PAIRS]])
        note(f"wrote {path}")
    if json:
        say_json(pair)
    if page is not None:
        items = [{"look": look(translator, text).to_json()} for text in texts[:2]]
        write_page(page, f"What “{pair['word']}” looks at", items, [pair])


def _looking(pair: dict[str, Any], head: dict[str, Any]) -> "list[Looking]":
    from heedful.viz.figures import Looking

    title = f"layer {head['layer'] + 1}, head {head['head'] + 1}"
    return [
        Looking(title, side["words"], side["place"], weights)
        for side, weights in zip(pair["sides"], head["weights"], strict=True)
    ]

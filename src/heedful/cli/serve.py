"""`heedful serve`: a page and a JSON API for the models of some runs."""

from contextlib import closing
from typing import Annotated

import typer

from heedful.cli.options import (
    Checkpoint,
    Device,
    Plugins,
    Precision,
    Settings,
    load_plugins,
)
from heedful.cli.screen import note, say, warn
from heedful.cli.search import Alpha, Beam, decode_changes
from heedful.errors import UsageError


def serve(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN", help="Folders of runs: RUN or NAME=RUN.")
    ],
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; 0.0.0.0 for every network.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="0 for any that is free.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="HEEDFUL_TOKEN",
            show_envvar=True,
            help="A word that clients must send: Authorization: Bearer TOKEN.",
        ),
    ] = None,
    origins: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            metavar="URL",
            help="Pages of this origin may ask too. May be given several times.",
        ),
    ] = None,
    beam: Beam = None,
    alpha: Alpha = None,
    max_beam: Annotated[int, typer.Option("--max-beam", min=1, help="Of a request.")] = 16,
    max_nbest: Annotated[int, typer.Option("--max-nbest", min=1, help="Of a request.")] = 16,
    max_texts: Annotated[int, typer.Option("--max-texts", min=1, help="Of a request.")] = 64,
    max_characters: Annotated[
        int, typer.Option("--max-characters", min=1, help="Of a text.")
    ] = 5_000,
    max_body: Annotated[
        int, typer.Option("--max-body", min=1, help="Bytes of a request.")
    ] = 1_000_000,
    max_waiting: Annotated[
        int, typer.Option("--max-waiting", min=1, help="Texts that wait for a model.")
    ] = 512,
    max_batch: Annotated[
        int, typer.Option("--max-batch", min=1, help="Texts that are decoded together.")
    ] = 128,
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", min=0.001, help="From a request to its answer.")
    ] = 60.0,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="That compute. Without it: all cores but one."),
    ] = None,
    checkpoint: Checkpoint = None,
    device: Device = "auto",
    precision: Precision = "auto",
    settings: Settings = None,
    plugin: Plugins = None,
) -> None:
    """Serve the models of runs: a page to type into, and a JSON API.

    Only this machine can reach it, unless --host says otherwise. Ctrl-C stops it when everything
    that it accepted is answered.

    \b
    Example:
      heedful serve runs/demo
      heedful serve runs/demo large=runs/base --port 9000 --token a-long-secret
      curl http://127.0.0.1:8000/translate -H 'Content-Type: application/json' \\
        -d '{"text": ["I like the green cat."], "beam": 4}'
    """
    _check_installed()
    load_plugins(plugin)
    from heedful.serve.app import make_app
    from heedful.serve.guard import LOOPBACK
    from heedful.serve.limits import Limits
    from heedful.serve.loading import load_runs
    from heedful.serve.server import bind, listen, url, use_threads

    limits = Limits(
        beam=max_beam,
        nbest=max_nbest,
        texts=max_texts,
        characters=max_characters,
        body=max_body,
        waiting=max_waiting,
        batch=max_batch,
        seconds=max_seconds,
    )
    if token is not None and not token.isascii():
        raise UsageError("--token must be of ASCII characters, as HTTP headers are")
    changes = decode_changes({"beam": beam, "alpha": alpha}, False, settings)
    with closing(bind(host, port)) as listening:
        served = load_runs(runs, checkpoint, device, changes, warn, precision)
        use_threads(threads)
        app = make_app(
            served,
            limits,
            token=token,
            hosts=LOOPBACK if host in LOOPBACK else (),
            origins=origins or (),
            warn=warn,
        )
        if host not in LOOPBACK and not token:
            warn("anybody who can reach this machine can use the server: --token asks for a word")
        for one in served:
            note(f"{one.name}: {one.checkpoint}, sha256 {one.sha256[:16]}")
        listen(app, limits, listening, lambda: say(f"serving at {url(listening)}"))
    note("stopped")


def _check_installed() -> None:
    for package in ("fastapi", "uvicorn"):
        try:
            __import__(package)
        except ImportError:
            raise UsageError(
                f"serving needs the package {package}, which is not installed. "
                "Install it: pip install 'heedful[serve]'"
            ) from None

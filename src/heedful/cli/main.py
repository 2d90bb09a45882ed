"""The command line: joins the verbs, one file each, and turns what goes wrong into one line.

Exit status: 0 done, 1 failed with a reason, 2 wrong usage, 130 interrupted. Nothing heavy (torch,
sacrebleu) is imported before a verb needs it, so `heedful --help` answers at once.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from heedful import __version__
from heedful.cli.attention import attention
from heedful.cli.average import average
from heedful.cli.bench import bench
from heedful.cli.compare import compare
from heedful.cli.compose import compose
from heedful.cli.curves import curves
from heedful.cli.decode import decode
from heedful.cli.demo import demo
from heedful.cli.doctor import doctor
from heedful.cli.evaluate import evaluate
from heedful.cli.export import export
from heedful.cli.list import list_things
from heedful.cli.positions import positions
from heedful.cli.prepare import prepare
from heedful.cli.reproduce import reproduce
from heedful.cli.residuals import residuals
from heedful.cli.score import score
from heedful.cli.screen import first
from heedful.cli.serve import serve
from heedful.cli.show import show
from heedful.cli.tensor2tensor import COMMANDS, FLAGS
from heedful.cli.train import train
from heedful.cli.vectors import vectors
from heedful.errors import HeedfulError, UsageError, nearest
from heedful.training.signals import INTERRUPTED, Interrupted

VERBS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "list": list_things,
    "show": show,
    "prepare": prepare,
    "doctor": doctor,
    "train": train,
    "evaluate": evaluate,
    "decode": decode,
    "average": average,
    "compose": compose,
    "attention": attention,
    "positions": positions,
    "residuals": residuals,
    "curves": curves,
    "export": export,
    "vectors": vectors,
    "serve": serve,
    "score": score,
    "compare": compare,
    "reproduce": reproduce,
}

GROUPS: dict[str, typer.Typer] = {"bench": bench}  # verbs with verbs of their own

# What the parser raises for wrong usage, however the installed typer spells it.
WrongUsage: Any = typer.BadParameter.__base__


def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Models that pay attention: prepare, train, score and use them.

    \b
    Start with:
      heedful demo
      heedful list problems
      heedful train algorithmic_sort_problem --preset transformer_algorithmic_tiny --out runs/sort
    """
    if version:
        print(f"heedful {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def application() -> Any:
    """The parser with all its verbs."""
    app = typer.Typer(name="heedful", add_completion=False, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(main)
    for name, verb in VERBS.items():
        app.command(name)(verb)
    for name, group in GROUPS.items():
        app.add_typer(group, name=name)
    return typer.main.get_command(app)


def run(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for; the exit status."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter is not an error
        getattr(stream, "reconfigure", lambda errors: None)(errors="backslashreplace")
    # What PyTorch says of the first gradient on a GPU, and then does itself what it misses.
    warnings.filterwarnings("ignore", "Attempting to run cuBLAS")
    command = application()
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        with command.make_context("heedful", given) as context:
            command.invoke(context)
        sys.stdout.flush()
        return 0
    except typer.Exit as exit:
        return exit.exit_code
    except WrongUsage as error:
        return _failed(f"error: {_usage(error)}", 2)
    except UsageError as error:
        return _failed(f"error: {error}", 2)
    except Interrupted as interruption:
        return _failed(str(interruption), INTERRUPTED)
    except HeedfulError as error:
        return _failed(f"error: {error}", 1)
    except (KeyboardInterrupt, typer.Abort):
        return _failed("interrupted", INTERRUPTED)
    except BrokenPipeError:  # whoever read our output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        return _failed(f"error: {error.filename or 'system'}: {error.strerror or error}", 1)
    except Exception as error:
        said = str(error).strip().partition("\n")[0]
        print(
            f"error: {type(error).__name__}: {said}. This is a bug in heedful or in a plug-in; "
            "HEEDFUL_TRACEBACK=1 shows where",
            file=sys.stderr,
        )
        return _failed("", 1)


def _failed(reason: str, status: int) -> int:
    """Say why, once: of several processes that fail alike, only the first speaks."""
    if os.environ.get("HEEDFUL_TRACEBACK") == "1":
        traceback.print_exc()
    if first() and reason:
        print(reason, file=sys.stderr, flush=True)
    return status


def _usage(error: Any) -> str:
    """The parser's complaint in our words, naming the nearest option or command."""
    context = error.ctx
    help_ = f"See {context.command_path if context else 'heedful'} --help"
    option = getattr(error, "option_name", None)
    said: str = error.format_message().rstrip(".")
    if option is not None and said.startswith("No such option"):
        if option in FLAGS:
            return f"{option} is Tensor2Tensor's. Here it is: {FLAGS[option]}. {help_}"
        known = [o for parameter in context.command.params for o in parameter.opts]
        return f"no option {option}.{nearest(option, known)} {help_}"
    if said.startswith("No such command"):
        name = said.split("'")[1]
        if name in COMMANDS:
            return f"{name} is Tensor2Tensor's. Here it is: {COMMANDS[name]}"
        return f"no command '{name}'.{nearest(name, context.command.commands)} {help_}"
    return f"{said[:1].lower()}{said[1:]}. {help_}"

"""`heedful list`: what there is, by name."""

from typing import Annotated

import typer

from heedful.claims.base import claims
from heedful.cli.options import Json, Plugins, load_plugins
from heedful.cli.screen import columns, note, say, say_json
from heedful.errors import UsageError, nearest
from heedful.metrics.base import metrics
from heedful.registry import Registry, models, presets, problems

KINDS: dict[str, Registry] = {
    "problems": problems,
    "models": models,
    "presets": presets,
    "metrics": metrics,
    "claims": claims,
}


def list_things(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="problems, models, presets, metrics or claims.")
    ],
    pattern: Annotated[
        str, typer.Argument(help="Only names like this, e.g. 'algorithmic_*'.")
    ] = "*",
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """List problems, models, presets, metrics or claims, one line each.

    \b
    Example:
      heedful list problems 'algorithmic_*'
    """
    if kind not in KINDS:
        raise UsageError(
            f"cannot list '{kind}'.{nearest(kind, KINDS)} There are: {', '.join(KINDS)}"
        )
    load_plugins(plugin)
    registry = KINDS[kind]
    names = registry.names(pattern)
    if json:
        say_json([{"name": name, "description": registry.describe(name)} for name in names])
    elif names:
        say(columns([(name, registry.describe(name)) for name in names]))
    else:
        note(f"no {registry.noun} has a name like '{pattern}'. All: heedful list {kind}")

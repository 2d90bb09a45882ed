"""`heedful show`: every field of a preset, problem, model or claim, and where it came from."""

from typing import Annotated, Any

import typer

from heedful.claims.base import claims
from heedful.cli.options import Json, Plugins, Settings, load_plugins, split_settings
from heedful.cli.provenance import made_by, origins, table
from heedful.cli.screen import columns, say, say_json, value
from heedful.config import flat, parse_settings, vary
from heedful.errors import UsageError, nearest
from heedful.registry import Registry, models, presets, problems


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A preset, problem, model or claim.")],
    settings: Settings = None,
    json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Show every field of a preset, problem, model or claim.

    Beside each value stands where it came from: a default, a preset, or --set.

    \b
    Example:
      heedful show transformer_tiny --set model.dim=32
    """
    load_plugins(plugin)
    changes = parse_settings(settings or ())
    shown, *also = [_shown(registry, name, changes) for registry in _registries(name)]
    if json:
        say_json({**shown, **({"also": also} if also else {})})
        return
    for each in (shown, *also):
        _say(name, each)


def _say(name: str, shown: dict[str, Any]) -> None:
    """One thing in lines."""
    say(f"{name}: a {shown['kind']}. {shown['description']}")
    for part in ("features", "splits"):
        if part in shown:
            say(f"\n{part}")
            say(columns([(k, _words(v)) for k, v in shown[part].items()], indent="  "))
    if "metrics" in shown:
        say(
            f"\nmetrics\n  {', '.join(shown['metrics'])}; the best checkpoint by {shown['best_by']}"
        )
    if shown["fields"]:
        say("\nfields")
        rows = [(f["field"], value(f["value"]), f["from"]) for f in shown["fields"]]
        say(columns(rows, indent="  "))


def _registries(name: str) -> list[Registry]:
    """Where a name is found; a preset and a claim may have the same."""
    shelves = (presets, problems, models, claims)
    found = [registry for registry in shelves if name in registry.names()]
    if found:
        return found
    for registry in shelves:
        if name in registry.retired:
            registry.get(name)  # says what Tensor2Tensor's name is here
    close = nearest(name, [other for registry in shelves for other in registry.names()])
    raise UsageError(
        f"no preset, problem, model or claim named '{name}'.{close} "
        "All: heedful list presets, heedful list problems, heedful list models, heedful list claims"
    )


def _shown(registry: Registry, name: str, changes: dict[str, str]) -> dict[str, Any]:
    head = {"name": name, "kind": registry.noun, "description": registry.describe(name)}
    if registry is claims:
        from heedful.claims.report import described

        told = flat(described(registry.get(name)()))
        return {**head, "fields": table(told, dict.fromkeys(told, "claim"))}
    of_problem, others = split_settings(changes)
    if registry is models:
        from heedful.models.base import ModelConfig

        made: list[tuple[str, Any]] = [(name, ModelConfig.choices[name]())]
    else:
        made = made_by(registry, name)
    final = vary(made[-1][1], {**of_problem, **others} if registry is problems else changes)
    fields = table(flat(final), origins(made, final, registry.noun))
    if registry is not problems:
        return {**head, "fields": fields}
    return {
        **head,
        "features": {
            feature: {"text": flat(kind.text), "vocabulary": kind.vocabulary}
            for feature, kind in final.features.items()
        },
        "splits": final.sizes,
        "metrics": list(final.metrics),
        "best_by": final.best_by,
        "fields": fields,
    }


def _words(shown: Any) -> str:
    """A feature or the size of a split in words."""
    if not isinstance(shown, dict):
        return "all examples that come" if shown is None else f"{shown:,} examples"
    text = dict(shown["text"])
    kind = text.pop("kind")
    details = ", ".join(f"{name} {value(v)}" for name, v in text.items())
    return f"{kind}{f' ({details})' if details else ''}, vocabulary '{shown['vocabulary']}'"

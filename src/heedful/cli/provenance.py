"""Where each value of a config came from: a default, a preset, or `--set`.

A preset is a function that may begin from another preset's (`vary(base(), …)`). Which ones were
called on the way, and what each gave, tells who set a value last.
"""

import dataclasses
import inspect
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from heedful.config import Choice, flat, to_json
from heedful.registry import Registry

DEFAULT = "default"


def made_by(registry: Registry, name: str) -> list[tuple[str, Any]]:
    """What `name` makes, after what each registered maker it began from made: innermost first."""
    makers = {_code(registry.get(other)): other for other in registry.names()}
    made: list[tuple[str, Any]] = []

    def listen(frame: FrameType, event: str, result: Any) -> None:
        if event == "return" and frame.f_code in makers and result is not None:
            made.append((makers[frame.f_code], result))

    before = sys.getprofile()
    sys.setprofile(listen)
    try:
        config = registry.get(name)()
    finally:
        sys.setprofile(before)
    return [*(pair for pair in made if pair[0] != name), (name, config)]


def origins(made: list[tuple[str, Any]], final: Any, noun: str) -> dict[str, str]:
    """For every leaf of `final`: `default`, `NOUN NAME` or `--set`."""
    stages = [(DEFAULT, defaults(final))]
    stages += [(f"{noun} {maker}", flat(config)) for maker, config in made]
    come_from = {}
    for path, value in flat(final).items():
        come_from[path] = "--set"
        for stage, leaves in reversed(stages):  # as far back as the value was the same
            if path not in leaves or leaves[path] != value:
                break
            come_from[path] = stage
    return come_from


def defaults(config: Any, given: Any = None, prefix: str = "") -> dict[str, Any]:
    """Every leaf's value if nobody had set it, by its path; without those that must be set."""
    leaves: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        path, value = f"{prefix}{field.name}", getattr(config, field.name)
        default = getattr(given, field.name) if given is not None else _default(field)
        if dataclasses.is_dataclass(value):
            alike = default if type(default) is type(value) else None
            if isinstance(value, Choice) and isinstance(default, Choice):
                leaves[f"{path}.kind"] = default.kind
            leaves.update(defaults(value, alike, f"{path}."))
        elif default is not dataclasses.MISSING:
            leaves[path] = to_json(default)
    return leaves


def _default(field: dataclasses.Field) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _code(maker: Callable[..., Any]) -> Any:
    return getattr(inspect.unwrap(maker), "__code__", None)


def table(values: Mapping[str, Any], come_from: Mapping[str, str]) -> list[dict[str, Any]]:
    """One record a leaf, for JSON."""
    return [{"field": path, "value": v, "from": come_from[path]} for path, v in values.items()]

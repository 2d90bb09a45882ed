"""Configurations: nested frozen dataclasses that can be varied, compared and written as JSON.

`vary` is the one way to change one, from Python and from `--set model.dim=256` alike: values are
checked against the fields' types, and a field that does not exist is an error that names the
nearest. A field that may hold one of several shapes (an optimiser, a schedule) is a `Choice`.
"""

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar, Union

from heedful.errors import UsageError, nearest

C = TypeVar("C")


class Choice:
    """The root of a family of configs of which a field holds one, told apart by `kind`.

    A direct subclass is the family; each subclass of that, given a `kind`, is one of the choices:
    `class Cosine(Schedule, kind="cosine")`, then `--set schedule=cosine schedule.warmup=100`.
    """

    kind: ClassVar[str]
    choices: ClassVar[dict[str, type]]

    def __init_subclass__(cls, kind: str | None = None) -> None:
        super().__init_subclass__()
        if Choice in cls.__bases__:
            cls.choices = {}
        if kind is not None:
            cls.kind = kind
            cls.choices[kind] = cls


def vary(config: C, changes: Mapping[str, Any]) -> C:
    """A copy of `config` with some fields changed, named by dotted paths, in the order given.

    Strings are read as the field's type, so the values of `--set` need no further care.
    """
    for path, value in changes.items():
        config = _vary(config, path.split("."), value, path)
    return config


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """`["model.dim=256"]` → `{"model.dim": "256"}`."""
    changes: dict[str, str] = {}
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise UsageError(
                f"--set takes FIELD=VALUE, got '{setting}'. Example: --set model.dim=256"
            )
        changes[path.strip()] = value.strip()
    return changes


def to_json(config: Any) -> Any:
    """Plain values (dicts, lists, numbers, strings) that `from_json` reads back as an equal."""
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        fields = {f.name: to_json(getattr(config, f.name)) for f in dataclasses.fields(config)}
        return {"kind": config.kind, **fields} if isinstance(config, Choice) else fields
    if isinstance(config, (list, tuple)):
        return [to_json(item) for item in config]
    if isinstance(config, Mapping):
        return {str(key): to_json(value) for key, value in config.items()}
    if config is None or isinstance(config, (bool, int, float, str)):
        return config
    raise TypeError(f"a config may hold plain values and dataclasses, not {type(config).__name__}")


def from_json(kind: Any, data: Any, where: str = "config") -> Any:
    """The value of type `kind` that `to_json` wrote as `data`; those left out are defaults."""
    if _is_config(kind):
        if not isinstance(data, Mapping):
            raise UsageError(
                f"{where} must be an object with {kind.__name__}'s fields, got {_said(data)}"
            )
        given = dict(data)
        if issubclass(kind, Choice):
            kind = _choice(kind, given.pop("kind", getattr(kind, "kind", "")), where)
        hints = typing.get_type_hints(kind)
        for name in given:
            if name not in hints or name not in _field_names(kind):
                raise UsageError(_no_field(kind, name))
        return kind(**{n: from_json(hints[n], v, f"{where}.{n}") for n, v in given.items()})
    return _typed(kind, data, where)


def flat(config: Any, prefix: str = "") -> dict[str, Any]:
    """Every leaf by its dotted path: what `--set` can reach, and what a diff compares."""
    leaves: dict[str, Any] = {}
    data = to_json(config)

    def descend(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                descend(inner, f"{path}.{name}" if path else name)
        else:
            leaves[path] = value

    descend(data, prefix)
    return leaves


def difference(before: Any, after: Any) -> list[str]:
    """One line for each leaf that differs: `model.dim: 256 → 512`."""
    old, new = flat(before), flat(after)
    lines = []
    for path in dict.fromkeys([*old, *new]):
        if path not in new:
            lines.append(f"{path}: {json.dumps(old[path])} → (gone)")
        elif path not in old:
            lines.append(f"{path}: (new) → {json.dumps(new[path])}")
        elif old[path] != new[path]:
            lines.append(f"{path}: {json.dumps(old[path])} → {json.dumps(new[path])}")
    return lines


def _vary(config: Any, path: list[str], value: Any, whole: str) -> Any:
    name, rest = path[0], path[1:]
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise UsageError(f"cannot set '{whole}': {_said(config)} has no fields of its own")
    if name not in _field_names(type(config)):
        raise UsageError(_no_field(type(config), name))
    if rest:
        new = _vary(getattr(config, name), rest, value, whole)
    else:
        new = _typed(typing.get_type_hints(type(config))[name], value, whole)
    return dataclasses.replace(config, **{name: new})


def _typed(kind: Any, value: Any, where: str) -> Any:
    """`value` as `kind`, reading strings as a command line means them."""
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        return _one_of(typing.get_args(kind), value, where)
    if origin is typing.Literal:
        allowed = typing.get_args(kind)
        if value in allowed:
            return value
        raise UsageError(
            f"{where} must be one of {', '.join(map(str, allowed))}, got {_said(value)}."
            + nearest(str(value), map(str, allowed))
        )
    if origin is tuple:
        items = value
        if isinstance(value, str):
            items = [item.strip() for item in value.split(",") if item.strip()]
        if not isinstance(items, (list, tuple)):
            raise UsageError(f"{where} must be a list, got {_said(value)}")
        kinds = typing.get_args(kind)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            return tuple(_typed(kinds[0], item, where) for item in items)
        if len(kinds) != len(items):
            raise UsageError(f"{where} must have {len(kinds)} values, got {len(items)}")
        return tuple(_typed(k, i, where) for k, i in zip(kinds, items, strict=True))
    if kind is type(None):
        if value is None or (isinstance(value, str) and value.lower() == "none"):
            return None
    elif kind is bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _TRUTH:
            return _TRUTH[value.lower()]
    elif kind is int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _number(int, value.replace("_", "").replace(",", ""), where)
        if isinstance(value, float) and value.is_integer():
            return int(value)
    elif kind is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str):
            return _number(float, value, where)
    elif kind is str:
        if isinstance(value, str):
            return value
    elif _is_config(kind):
        if isinstance(value, kind):
            return value
        if isinstance(value, str) and issubclass(kind, Choice):
            return _choice(kind, value, where)()
        if isinstance(value, Mapping):
            return from_json(kind, value, where)
    raise UsageError(f"{where} must be {_spoken(kind)}, got {_said(value)}")


_TRUTH = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def _number(kind: type, text: str, where: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{where} must be {_spoken(kind)}, got '{text}'") from None


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    for kind in sorted(kinds, key=lambda k: k is str):  # a string only when nothing else will do
        try:
            return _typed(kind, value, where)
        except UsageError:
            continue
    raise UsageError(f"{where} must be {' or '.join(map(_spoken, kinds))}, got {_said(value)}")


def _choice(family: type[Choice], kind: str, where: str) -> type:
    if kind in family.choices:
        return family.choices[kind]
    raise UsageError(
        f"{where} has no kind '{kind}'.{nearest(kind, family.choices)} "
        f"It can be: {', '.join(family.choices)}"
    )


def _no_field(kind: type, name: str) -> str:
    names = _field_names(kind)
    return (
        f"{kind.__name__} has no field '{name}'.{nearest(name, names)} It has: {', '.join(names)}"
    )


def _field_names(kind: type) -> list[str]:
    return [f.name for f in dataclasses.fields(kind)]


def _is_config(kind: Any) -> bool:
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, Choice))


def _said(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)


def _spoken(kind: Any) -> str:
    words = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "a word",
        type(None): "none",
    }
    if kind in words:
        return words[kind]
    if typing.get_origin(kind) is not None:
        return str(kind).replace("typing.", "")
    return f"a {kind.__name__}"

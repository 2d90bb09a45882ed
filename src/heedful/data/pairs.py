"""Files that hold both sides of each pair: columns between tabs, or a JSON object a line.

A name that ends in .jsonl, .ndjson or .json (before .gz and the like) means JSON objects; any other
means columns. Which fields are the source and the target can be said: keys of the objects
("translation.en" is en inside translation), numbers of columns from 1, or the columns' names, and
then the first line is a header. If it is not said, a file of columns must have exactly two, without
a header, and JSON objects have the first of the key pairs in `KEYS` that the first of them has.

Quotes in columns are text like any other. A blank line is a pair with two empty sides.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from heedful.data.compression import plain_name
from heedful.data.files import read_lines
from heedful.errors import HeedfulError, UsageError, nearest

KEYS = (("source", "target"), ("inputs", "targets"), ("src", "tgt"))
JSON_NAMES = (".jsonl", ".ndjson", ".json")
_HALVES = re.compile("[\ud800-\udfff]")  # what JSON can say and UTF-8 cannot
_MISSING = object()

Pair = tuple[str, str]


def read_pairs(path: Path | str, fields: Sequence[str] = ()) -> Iterator[Pair]:
    """The pairs of a file, source first, streamed."""
    if len(fields) not in (0, 2):
        raise UsageError(
            f"--fields takes two, the source's first, e.g. --fields en,de; got {','.join(fields)}"
        )
    if plain_name(path).lower().endswith(JSON_NAMES):
        return _objects(path, fields)
    return _columns(path, fields)


def _columns(path: Path | str, fields: Sequence[str]) -> Iterator[Pair]:
    lines = enumerate(read_lines(path), start=1)
    if not fields:
        first, second, least, exact = 0, 1, 2, True
    else:
        if all(field.isascii() and field.isdigit() for field in fields):
            first, second = (int(field) - 1 for field in fields)
        else:
            header = next(lines)[1].split("\t")
            first, second = (_column(field, header, path) for field in fields)
        least, exact = max(first, second) + 1, False
        if min(first, second) < 0:
            raise UsageError(f"columns are counted from 1, got --fields {','.join(fields)}")
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) < least or (exact and len(cells) > least):
            if line.strip():
                _wrong_columns(path, number, line, len(cells), least)
            yield "", ""
        else:
            yield cells[first], cells[second]


def _column(name: str, header: list[str], path: Path | str) -> int:
    names = [cell.strip() for cell in header]
    if name not in names:
        raise HeedfulError(
            f"{path} has no column '{name}' in its first line.{nearest(name, names)} It has: "
            f"{', '.join(names)}. Without names in the first line, give numbers: --fields 1,2"
        )
    return names.index(name)


def _wrong_columns(path: Path | str, number: int, line: str, found: int, least: int) -> NoReturn:
    has = f"line {number:,} of {path} has {found} column{'s' * (found != 1)} between tabs"
    if line.startswith("{"):
        raise HeedfulError(f"{has}. If its lines are JSON, let its name end in .jsonl")
    if found > least:
        raise HeedfulError(
            f"{has}: say which are the source and the target, e.g. --fields 1,2 (or by the names "
            "in the first line)"
        )
    raise HeedfulError(f"{has}, and column {least} is asked for. Mend the line, or name others")


def _objects(path: Path | str, fields: Sequence[str]) -> Iterator[Pair]:
    keys = tuple(fields)
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            yield "", ""
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            said = getattr(error, "msg", str(error))
            place = f" at its character {error.colno:,}" if hasattr(error, "colno") else ""
            raise HeedfulError(
                f"line {number:,} of {path} is not JSON: {said}{place}. Each must be one object"
            ) from None
        if not isinstance(record, dict):
            raise HeedfulError(
                f'line {number:,} of {path} is not a JSON object like {{"source": "…", "target": '
                '"…"}: each line must be one'
            )
        if not keys:
            keys = _keys(record, path, number)
        yield _value(record, keys[0], path, number), _value(record, keys[1], path, number)


def _keys(record: dict[str, Any], path: Path | str, number: int) -> Pair:
    for pair in KEYS:
        if all(key in record for key in pair):
            return pair
    known = ", ".join(" and ".join(pair) for pair in KEYS)
    raise HeedfulError(
        f"line {number:,} of {path} has the keys {', '.join(record) or '(none)'}: say which are "
        f"the source and the target, e.g. --fields en,de. Known without saying: {known}"
    )


def _value(record: dict[str, Any], key: str, path: Path | str, number: int) -> str:
    value: Any = record
    for part in [key] if key in record else key.split("."):
        value = value.get(part, _MISSING) if isinstance(value, dict) else _MISSING
    if value is None:
        return ""
    if isinstance(value, str) and "\0" not in value and not _HALVES.search(value):
        return value
    where = f"line {number:,} of {path}"
    if value is _MISSING:
        raise HeedfulError(
            f"{where} has no '{key}'.{nearest(key, record)} It has: {', '.join(record)}"
        )
    if not isinstance(value, str):
        raise HeedfulError(f"'{key}' in {where} must be text, got {json.dumps(value)[:40]}")
    if "\0" in value:
        raise HeedfulError(f"'{key}' in {where} has a NUL character: remove it")
    raise HeedfulError(
        f"'{key}' in {where} has half a character: an escape from \\ud800 to \\udfff that has no "
        "partner. Mend or remove it"
    )

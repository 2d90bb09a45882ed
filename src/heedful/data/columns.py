"""Files of columns between tabs, some of which are wanted.

Columns are chosen by number, from 1; or by name, and then the first line is a header. Quotes are
text like any other.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from heedful.data.compression import plain_name
from heedful.data.files import read_lines
from heedful.data.pairs import JSON_NAMES
from heedful.errors import HeedfulError, UsageError, nearest

Cells = tuple[int, tuple[str, ...]]  # the number of a line, and the cells that are wanted


def read_columns(path: Path | str, columns: Sequence[str]) -> Iterator[Cells]:
    """The wanted cells of every line, streamed. A blank line has empty ones."""
    if plain_name(path).lower().endswith(JSON_NAMES):
        raise UsageError(f"{path} is JSON by its name; what is read here is columns between tabs")
    lines = enumerate(read_lines(path), start=1)
    numbers = [_number(column) for column in columns]
    if any(number is None for number in numbers):
        header = [cell.strip() for cell in next(lines)[1].split("\t")]
        places = [_place(column, header, path) for column in columns]
    else:
        places = [number - 1 for number in numbers if number is not None]
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) > max(places):
            yield number, tuple(cells[place] for place in places)
        elif line.strip():
            raise HeedfulError(
                f"line {number:,} of {path} has {len(cells)} column{'s' * (len(cells) != 1)} "
                f"between tabs, and column {max(places) + 1} is asked for. Mend the line, or name "
                "other columns"
            )
        else:
            yield number, ("",) * len(places)


def _number(column: str) -> int | None:
    if not (column.isascii() and column.isdigit()):
        return None
    if int(column) < 1:
        raise UsageError(f"columns are counted from 1, got {column}")
    return int(column)


def _place(column: str, header: list[str], path: Path | str) -> int:
    """Where the column of this name or number stands."""
    number = _number(column)
    if column in header or number is None:
        if column not in header:
            raise HeedfulError(
                f"{path} has no column '{column}' in its first line.{nearest(column, header)} It "
                f"has: {', '.join(header)}. Without names in the first line, give numbers: 1, 2, …"
            )
        return header.index(column)
    return number - 1

"""Examples that are made once and read more than once: the first of them wait in a file."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from heedful.problems.base import Example


class Replay:
    """A stream of examples whose beginning can be read again. Memory holds none of them."""

    def __init__(self, examples: Iterator[Example], path: Path) -> None:
        self._examples = examples
        self._path = path
        self._kept = 0  # how many are in the file
        self._file = path.open("w", encoding="utf-8")

    def first(self, count: int) -> Iterator[Example]:
        """Up to `count` examples from the beginning, kept for the next reader."""
        yield from islice(self._read(), count)
        while self._kept < count:
            example = next(self._examples, None)
            if example is None:
                return
            self._keep(example)
            yield example

    def all(self) -> Iterator[Example]:
        """Every example from the beginning; this reader is the last."""
        yield from self._read()
        self.close()
        yield from self._examples

    def close(self) -> None:
        """Let go of the file, and of what it keeps."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _keep(self, example: Example) -> None:
        self._file.write(json.dumps(example) + "\n")
        self._kept += 1

    def _read(self) -> Iterator[Example]:
        self._file.flush()
        with self._path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

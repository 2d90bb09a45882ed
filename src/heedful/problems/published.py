"""What others publish: fetched when it is prepared, then read where it lies."""

import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from heedful.data.progress import Progress
from heedful.data.sources import Download, Examples, fetch
from heedful.errors import HeedfulError
from heedful.problems.base import Example, Problem


@dataclass(frozen=True, kw_only=True)
class Published(Problem):
    """A problem whose examples are in files that others publish."""

    @abstractmethod
    def downloads(self) -> tuple[Download, ...]:
        """The files it is in."""

    @abstractmethod
    def read(self, files: Mapping[str, Path], split: str, rng: random.Random) -> Iterator[Example]:
        """The examples of a split; `files` are the downloads by their names."""

    def fetch(self, folder: Path, progress: Progress) -> Examples:
        """Have every download in `folder`, or in the mirror; then examples can be read."""
        files = {one.name: fetch(one, folder, progress) for one in self.downloads()}
        return partial(self.read, files)

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        raise HeedfulError(
            f"the examples of {type(self).__name__} are in files that must be fetched first: "
            "heedful prepare does it"
        )

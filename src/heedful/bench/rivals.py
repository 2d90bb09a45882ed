"""Those that ours is measured beside: which are asked for, and which are installed."""

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from heedful.bench.table import Row
from heedful.errors import UsageError, nearest

EXTRA = "pip install 'heedful[bench]'"


@dataclass(frozen=True)
class Rival:
    """Another library's way of doing the same."""

    name: str  # as --peers names it
    title: str  # as a row names it
    package: str  # what it needs; what is imported is spelt with _ for -
    install: str = EXTRA

    @property
    def installed(self) -> bool:
        try:
            return importlib.util.find_spec(self.package.replace("-", "_")) is not None
        except ValueError:  # something of this name was loaded in an unusual way, or blocked
            return False

    def missing(self, unit: str) -> Row:
        """The row that stands for it where it is not installed."""
        return Row(name=self.title, unit=unit, note=f"not installed, {self.install}")

    def version(self) -> dict[str, str]:
        """Of its package, by name; nothing where it is not installed."""
        if not self.installed:
            return {}
        return {self.package: importlib.metadata.version(self.package)}


def chosen(text: str | None, rivals: Sequence[Rival]) -> tuple[Rival, ...]:
    """What `--peers` names: all without it, `none`, or names with commas."""
    if text is None:
        return tuple(rivals)
    if text.strip() == "none":
        return ()
    known = {rival.name: rival for rival in rivals}
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(
                f"no peer named '{name}' here.{nearest(name, known)} There are: none, "
                f"{', '.join(known)}"
            )
    return tuple(known[name] for name in names)

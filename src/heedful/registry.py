"""Names to things: the problems, models and presets that a command line can ask for.

A registry walks its room (a package) on the first lookup and imports every module in it, so a new
file is found by existing. Packages outside this one join through the entry point group
`heedful.plugins` or through `load_plugin`.
"""

import fnmatch
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from heedful.errors import UsageError, nearest

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

PLUGINS = "heedful.plugins"


class Registry(Generic[T]):
    """Things of one kind, by name. Each is a function or class that makes the thing when called."""

    def __init__(self, noun: str, room: str, retired: dict[str, str] | None = None) -> None:
        self.noun = noun
        self.room = room
        self.retired = retired or {}  # a name people may still ask for -> what to ask for instead
        self._makers: dict[str, Callable[..., T]] = {}
        self._walked = False

    def register(self, name: str) -> Callable[[F], F]:
        """Decorate a maker with the name it is found by. A name taken twice is an error."""

        def enroll(maker: F) -> F:
            taken = self._makers.get(name)
            if taken is not None and _origin(taken) != _origin(maker):
                raise UsageError(
                    f"two {self.noun}s are named '{name}': one in {_origin(taken)}, "
                    f"one in {_origin(maker)}. Rename one of them"
                )
            self._makers[name] = maker
            return maker

        return enroll

    def get(self, name: str) -> Callable[..., T]:
        """The maker registered as `name`, or an error that names the nearest."""
        self._walk()
        if name in self._makers:
            return self._makers[name]
        if name in self.retired:
            raise UsageError(
                f"no {self.noun} named '{name}'; that is Tensor2Tensor's name. "
                f"Here it is: {self.retired[name]}"
            )
        close = nearest(name, self._makers)
        raise UsageError(
            f"no {self.noun} named '{name}'.{close} "
            f"All {len(self._makers)}: heedful list {self.noun}s"
        )

    def names(self, pattern: str = "*") -> list[str]:
        """Registered names that match a shell pattern, in natural order (layer2 before layer10)."""
        self._walk()
        return sorted(fnmatch.filter(self._makers, pattern), key=_natural)

    def describe(self, name: str) -> str:
        """The first line a person reads about it: its maker's docstring, up to the first stop."""
        doc = inspect.getdoc(self.get(name)) or ""
        return doc.split("\n\n")[0].replace("\n", " ").strip()

    def _walk(self) -> None:
        if self._walked:
            return
        self._walked = True  # before the imports: a module of the room may itself look a name up
        try:
            room = importlib.import_module(self.room)
            for module in pkgutil.walk_packages(room.__path__, prefix=f"{self.room}."):
                importlib.import_module(module.name)
            load_entry_points()
        except BaseException:
            self._walked = False
            raise


def load_plugin(module: str) -> None:
    """Import a module for what it registers (`--plugin my_models`)."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0] and error.name != module:
            raise UsageError(
                f"plug-in '{module}' needs a module that is missing: {error.name}"
            ) from error
        raise UsageError(
            f"no module named '{module}' to load as a plug-in. "
            "Install its package, or run from the folder that holds it"
        ) from error


_entry_points_loaded = False


def load_entry_points() -> None:
    """Import every installed package that registers itself under `heedful.plugins`, once."""
    global _entry_points_loaded
    if _entry_points_loaded:
        return
    _entry_points_loaded = True
    for entry in importlib.metadata.entry_points(group=PLUGINS):
        try:
            entry.load()
        except Exception as error:
            raise UsageError(
                f"the installed plug-in '{entry.name}' ({entry.value}) does not load: {error}. "
                "Mend or uninstall it"
            ) from error


def _origin(maker: Callable[..., Any]) -> str:
    return f"{maker.__module__}.{maker.__qualname__}"


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


problems: Registry[Any] = Registry(
    "problem",
    "heedful.problems",
    retired={
        "translate_ende_wmt32k": "wmt14_en_de",
        "translate_enfr_wmt32k": "wmt14_en_fr",
        "translate_enfr_wmt_small32k": "wmt14_en_fr",
    },
)
models: Registry[Any] = Registry("model", "heedful.models")
presets: Registry[Any] = Registry(
    "preset",
    "heedful.presets",
    retired={
        "transformer_base_v1": "transformer_base_paper",
        "transformer_base_v2": "transformer_base",
        "transformer_base_v3": "transformer_base",
    },
)

"""Other libraries: imported when they are needed, missed with a hint."""

import importlib
from typing import Any

from heedful.errors import UsageError


class NotInstalled(UsageError):
    """A library that was asked for is not there."""


def installed(package: str, extra: str) -> Any:
    """The library, or an error that says how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise NotInstalled(
            f"exporting to {extra} needs the package {package}, which is not installed. "
            f"Install it: pip install 'heedful[{extra}]'"
        ) from None
